// Device properties as text: one line per field, with the field's name, a space and its value; an
// empty line ends a device.
//
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstring>
#include <sstream>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "device/device_enumeration.h"

namespace lanecrypt::device {
namespace {

// Replaces control characters by spaces, so that values contain no line breaks.
std::string one_line(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

std::string text_of(const std::string &value) { return one_line(value); }
std::string text_of(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : " ") + one_line(name);
  return text;
}
template <typename T>
requires std::is_integral_v<T> std::string text_of(T value) { return std::to_string(value); }

bool read(std::string_view text, std::string *value) {
  *value = text;
  return true;
}
bool read(std::string_view text, std::vector<std::string> *names) {
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) names->push_back(word);
  return true;
}
bool read(std::string_view text, bool *value) {
  *value = text == "1";
  return text == "0" || text == "1";
}
template <typename T>
requires std::is_integral_v<T>
bool read(std::string_view text, T *value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// Visits each field once, in the order of the text.
template <typename P, typename Visit>
void each_field(P &properties, Visit visit) {
  visit("id", properties.id);
  visit("api", properties.api);
  visit("name", properties.name);
  visit("driver", properties.driver);
  visit("platform", properties.platform);
  visit("unusable", properties.unusable);
  visit("memory_bytes", properties.memory_bytes);
  visit("compute_units", properties.compute_units);
  visit("shared_bytes", properties.shared_bytes);
  visit("max_thread_block_size", properties.max_thread_block_size);
  visit("fixed_thread_block_size", properties.fixed_thread_block_size);
  visit("chain_thread_block_size", properties.chain_thread_block_size);
  visit("warp_threads", properties.warp_threads);
  visit("banked_shared", properties.banked_shared);
  visit("bit_matrices", properties.bit_matrices);
  visit("warp_shuffle", properties.warp_shuffle);
  visit("is_gpu", properties.is_gpu);
  visit("pairs_launches", properties.pairs_launches);
  visit("fast_fp64", properties.fast_fp64);
  visit("flat_addresses", properties.flat_addresses);
  visit("reaches_pinned", properties.reaches_pinned);
  visit("default_streams", properties.default_streams);
  visit("kernel_sets", properties.kernel_sets);
  visit("single_thread_subgroups", properties.single_thread_subgroups);
  visit("kernels", properties.kernels);
  visit("pci_address", properties.pci_address);
}

}  // namespace

std::string to_text(const std::vector<Properties> &all) {
  std::string text;
  for (const Properties &properties : all) {
    each_field(properties, [&](const char *name, const auto &value) {
      text += std::string(name) + " " + text_of(value) + "\n";
    });
    text += "\n";
  }
  return text;
}

bool from_text(const std::string &text, std::vector<Properties> *all) {
  std::istringstream lines(text);
  while (lines.peek() != std::istringstream::traits_type::eof()) {
    Properties properties;
    bool is_right = true;
    std::string line;
    each_field(properties, [&](const char *name, auto &value) {
      const size_t length = std::strlen(name);
      is_right = is_right && std::getline(lines, line) && line.starts_with(name) &&
                 line.size() > length && line[length] == ' ' &&
                 read(std::string_view(line).substr(length + 1), &value);
    });
    if (!is_right || !std::getline(lines, line) || !line.empty()) return false;
    all->push_back(std::move(properties));
  }
  return true;
}

}  // namespace lanecrypt::device
