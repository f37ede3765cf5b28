// Escapes control characters and invalid UTF-8.
//
// SPDX-License-Identifier: Apache-2.0
#include "process/printable.h"

#include <cstddef>
#include <cstdint>

namespace lanecrypt::process {
namespace {

// shown_bytes() returns the length in bytes of the first character, or 0 if it is a control
// character or invalid UTF-8 (RFC 3629).
size_t shown_bytes(std::string_view text) {
  const auto first = uint8_t(text[0]);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  if (first < 0xc0 || first >= 0xf8) return 0;
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (text.size() < bytes) return 0;
  uint32_t character = first & (0x7f >> bytes);
  for (size_t n = 1; n < bytes; ++n) {
    const auto next = uint8_t(text[n]);
    if ((next & 0xc0) != 0x80) return 0;
    character = character << 6 | (next & 0x3f);
  }
  // Two-byte characters below U+00A0 are control characters, which some terminals obey.
  constexpr uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  return character < kLeast[bytes] || character > 0x10ffff || is_surrogate ? 0 : bytes;
}

void append_escape(std::string &to, uint8_t byte) {
  to += '\\';
  switch (byte) {
    case '\n':
      to += 'n';
      return;
    case '\r':
      to += 'r';
      return;
    case '\t':
      to += 't';
      return;
    default:
      for (int shift = 6; shift >= 0; shift -= 3) to += char('0' + (byte >> shift & 7));
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = shown_bytes(text);
    if (bytes == 0) append_escape(out, uint8_t(text[0]));
    out += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

}  // namespace lanecrypt::process
