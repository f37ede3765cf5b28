// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/hex.h"

#include <fmt/format.h>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

// Returns the value of a hexadecimal digit, or 0x100 for another character. Uses no table and no
// branch on the digit, because the text may be a key.
unsigned digit_value(char character) {
  const unsigned code = static_cast<unsigned char>(character);
  const unsigned decimal = code - '0';
  const unsigned letter = (code | 0x20) - 'a';
  // All ones if the value is at least 0 and below the limit, as a signed number.
  const unsigned is_decimal = 0u - (((decimal - 10u) & ~decimal) >> 31);
  const unsigned is_letter = 0u - (((letter - 6u) & ~letter) >> 31);
  return (decimal & is_decimal) | ((letter + 10) & is_letter) | (0x100u & ~is_decimal & ~is_letter);
}

}  // namespace

void parse_hex(std::string_view text, std::span<uint8_t> out, std::string_view what) {
  unsigned wrong = 0;
  for (char character : text) wrong |= digit_value(character);
  if (wrong & 0x100)
    throw Failure(ExitCode::kUsage,
                  fmt::format("{}: a character is no hexadecimal digit (0-9, a-f)", what));
  if (text.size() != 2 * out.size())
    throw Failure(ExitCode::kUsage,
                  fmt::format("{}: {} hexadecimal digits are needed ({} bytes), but {} were given",
                              what, 2 * out.size(), out.size(), text.size()));
  for (size_t i = 0; i < out.size(); i++)
    out[i] = static_cast<uint8_t>(digit_value(text[2 * i]) << 4 | digit_value(text[2 * i + 1]));
}

std::string to_hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{:02X}", byte);
  return text;
}

}  // namespace lanecrypt::cli
