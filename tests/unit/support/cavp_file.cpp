// SPDX-License-Identifier: Apache-2.0
#include "cavp_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

namespace lanecrypt::test {
namespace {

std::string folder_of_vectors() {
  const char *folder = std::getenv("LANECRYPT_CAVP_DIR");
  return folder ? folder : "";
}

std::string trimmed(const std::string &text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// Returns the value of a hexadecimal digit, or -1. It is written for speed: the files have tens of
// thousands of long numbers.
int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

}  // namespace

const std::string &CavpCase::text(const std::string &name) const {
  const auto found = values.find(name);
  if (found == values.end()) throw std::runtime_error("a case has no line " + name);
  return found->second;
}

uint64_t CavpCase::number(const std::string &name) const { return std::stoull(text(name)); }

Bytes CavpCase::bytes(const std::string &name) const {
  const std::string &hex = text(name);
  Bytes bytes(hex.size() / 2);
  for (size_t at = 0; at < hex.size(); at++) {
    const int digit = value_of(hex[at]);
    if (digit < 0 || hex.size() % 2 != 0)
      throw std::runtime_error(name + " is not hexadecimal: " + hex);
    bytes[at / 2] = static_cast<uint8_t>(bytes[at / 2] << 4 | digit);
  }
  return bytes;
}

bool cavp_is_here() {
  return !folder_of_vectors().empty() && std::filesystem::is_directory(folder_of_vectors());
}

std::vector<std::string> cavp_files(const std::string &folder, const std::string &begin) {
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder_of_vectors() + "/" + folder)) {
    const std::string name = entry.path().filename();
    if (name.rfind(begin, 0) == 0 && entry.path().extension() == ".rsp")
      names.push_back(folder + "/" + name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<CavpCase> read_cavp(const std::string &file_name) {
  std::ifstream stream(folder_of_vectors() + "/" + file_name);
  if (!stream) throw std::runtime_error(file_name + ": cannot be read");
  std::vector<CavpCase> cases;
  CavpCase heading, next;
  bool heading_is_over = false;
  const auto end_case = [&] {
    if (next.values.empty()) return;
    next.values.insert(heading.values.begin(), heading.values.end());
    cases.push_back(std::move(next));
    next = {};
  };
  std::string line;
  while (std::getline(stream, line)) {
    line = trimmed(line);
    if (!line.empty() && line[0] == '#') continue;
    if (line.empty()) {
      end_case();
      continue;
    }
    const bool in_brackets = line.front() == '[' && line.back() == ']';
    if (in_brackets) {
      end_case();
      // Consecutive lines in brackets form one heading. A later heading replaces it.
      if (heading_is_over) heading = {};
      line = line.substr(1, line.size() - 2);
    }
    heading_is_over = !in_brackets;
    const size_t equals = line.find('=');
    const std::string name = trimmed(line.substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : trimmed(line.substr(equals + 1));
    (in_brackets ? heading : next).values[name] = value;
  }
  end_case();
  if (cases.empty()) throw std::runtime_error(file_name + ": holds no case");
  return cases;
}

}  // namespace lanecrypt::test
