// SPDX-License-Identifier: Apache-2.0
#include "cli/hash/checksum_line.h"

#include <utility>

namespace lanecrypt::cli {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

// Returns the value of a hexadecimal digit in upper or lower case, or 16 if it is none.
unsigned value_of(char digit) {
  for (unsigned value = 0; value < 16; ++value)
    if (digit == kDigits[value] || (value > 9 && digit == kDigits[value] - 'a' + 'A')) return value;
  return 16;
}

// Reverses escaped_name(). Returns nothing if a backslash is followed by a character that
// escaped_name() does not write after one.
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

// Returns the name with escapes, as a line contains it. Sets `begins` to what the line must begin
// with: a backslash if a character was escaped, otherwise nothing.
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

bool is_white(char letter) { return letter == ' ' || letter == '\t'; }

std::string_view without_white(std::string_view text) {
  while (!text.empty() && is_white(text[0])) text.remove_prefix(1);
  return text;
}

// Parses a hexadecimal digest of exactly `bytes` bytes.
std::optional<std::vector<uint8_t>> read_digits(std::string_view text, size_t bytes) {
  if (text.size() != 2 * bytes) return std::nullopt;
  std::vector<uint8_t> digest;
  for (size_t n = 0; n < bytes; ++n) {
    const unsigned high = value_of(text[2 * n]), low = value_of(text[2 * n + 1]);
    if (high > 15 || low > 15) return std::nullopt;
    digest.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return digest;
}

std::optional<ChecksumLine> line_of(std::optional<std::vector<uint8_t>> digest,
                                    std::string_view text, bool is_escaped) {
  std::optional<std::string> name = is_escaped ? unescaped(text) : std::string(text);
  // No file name contains a null byte, and the system would use only the part before it.
  if (!digest || !name || name->find('\0') != std::string::npos) return std::nullopt;
  return ChecksumLine{std::move(*digest), std::move(*name)};
}

}  // namespace

std::string to_line(std::span<const uint8_t> digest, std::string_view name, LineForm form) {
  std::string line;
  const std::string text = form.ends_by_zero ? std::string(name) : escaped_name(name, &line);
  if (!form.tag.empty()) line += std::string(form.tag) + " (" + text + ") = ";
  for (const uint8_t byte : digest) {
    line += kDigits[byte >> 4];
    line += kDigits[byte & 15];
  }
  if (form.tag.empty()) line += "  " + text;
  return line + (form.ends_by_zero ? '\0' : '\n');
}

std::string verdict_line(std::string_view name, std::string_view verdict) {
  std::string begins;
  const std::string shown = escaped_name(name, &begins);
  return begins + shown + ": " + std::string(verdict) + "\n";
}

std::optional<ChecksumLine> ChecksumParser::parse(std::string_view line) {
  line = without_white(line);
  const bool is_escaped = line.starts_with('\\');
  if (is_escaped) line.remove_prefix(1);
  if (line.starts_with(tag_)) return parse_tagged(line.substr(tag_.size()), is_escaped);
  const size_t digits = 2 * digest_bytes_;
  // A space or tab and at least one character follow the digits.
  if (line.size() < digits + 2 || !is_white(line[digits])) return std::nullopt;
  std::optional<std::vector<uint8_t>> digest = read_digits(line.substr(0, digits), digest_bytes_);
  if (!digest) return std::nullopt;
  std::string_view name = line.substr(digits + 1);
  if (name.size() == 1 || (name[0] != ' ' && name[0] != '*')) {
    if (form_ == Form::kTwoLetters) return std::nullopt;
    form_ = Form::kOneLetter;
  } else if (form_ != Form::kOneLetter) {
    form_ = Form::kTwoLetters;
    name.remove_prefix(1);
  }
  return line_of(std::move(digest), name, is_escaped);
}

std::optional<ChecksumLine> ChecksumParser::parse_tagged(std::string_view rest,
                                                         bool is_escaped) const {
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const size_t end = rest.rfind(')');
  if (!rest.starts_with('(') || end == std::string_view::npos) return std::nullopt;
  const std::string_view name = rest.substr(1, end - 1);
  rest = without_white(rest.substr(end + 1));
  if (!rest.starts_with('=')) return std::nullopt;
  return line_of(read_digits(without_white(rest.substr(1)), digest_bytes_), name, is_escaped);
}

}  // namespace lanecrypt::cli
