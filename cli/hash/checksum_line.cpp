// SPDX-License-Identifier: Apache-2.0
#include "cli/hash/checksum_line.h"

#include <utility>

namespace lanecrypt::cli {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

// The value of a digit in either case, or 16.
unsigned value_of(char digit) {
  for (unsigned value = 0; value < 16; ++value)
    if (digit == kDigits[value] || (value > 9 && digit == kDigits[value] - 'a' + 'A')) return value;
  return 16;
}

// Nothing if a backslash is followed by what none of ours is followed by.
std::optional<std::string> unescaped(std::string_view text) {
  std::string name;
  for (size_t n = 0; n < text.size(); ++n) {
    if (text[n] != '\\') {
      name += text[n];
      continue;
    }
    switch (++n < text.size() ? text[n] : '\0') {
      case '\\':
        name += '\\';
        break;
      case 'n':
        name += '\n';
        break;
      case 'r':
        name += '\r';
        break;
      default:
        return std::nullopt;
    }
  }
  return name;
}

// As a line has it. If a byte of it is escaped, the line begins with a backslash, which `begins`
// becomes.
std::string escaped_name(std::string_view name, std::string *begins) {
  begins->clear();
  std::string text;
  for (const char letter : name) {
    const char *const escape = letter == '\\'   ? "\\\\"
                               : letter == '\n' ? "\\n"
                               : letter == '\r' ? "\\r"
                                                : nullptr;
    if (escape == nullptr) {
      text += letter;
      continue;
    }
    text += escape;
    begins->assign(1, '\\');
  }
  return text;
}

}  // namespace

std::string to_line(std::span<const uint8_t> digest, std::string_view name) {
  std::string line;
  const std::string text = escaped_name(name, &line);
  for (const uint8_t byte : digest) {
    line += kDigits[byte >> 4];
    line += kDigits[byte & 15];
  }
  return line + "  " + text + "\n";
}

std::string verdict_line(std::string_view name, std::string_view verdict) {
  std::string begins;
  const std::string shown = escaped_name(name, &begins);
  return begins + shown + ": " + std::string(verdict) + "\n";
}

std::optional<ChecksumLine> parse_line(std::string_view line, size_t digest_bytes) {
  const bool is_escaped = line.starts_with('\\');
  if (is_escaped) line.remove_prefix(1);
  if (line.size() < 2 * digest_bytes + 3) return std::nullopt;
  ChecksumLine result;
  for (size_t n = 0; n < digest_bytes; ++n) {
    const unsigned high = value_of(line[2 * n]), low = value_of(line[2 * n + 1]);
    if (high > 15 || low > 15) return std::nullopt;
    result.digest.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  line.remove_prefix(2 * digest_bytes);
  if (line[0] != ' ' || (line[1] != ' ' && line[1] != '*')) return std::nullopt;
  line.remove_prefix(2);
  std::optional<std::string> name = is_escaped ? unescaped(line) : std::string(line);
  // No file has such a name, and the system would read only its beginning.
  if (!name || name->find('\0') != std::string::npos) return std::nullopt;
  result.name = std::move(*name);
  return result;
}

}  // namespace lanecrypt::cli
