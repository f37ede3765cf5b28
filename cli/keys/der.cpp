// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/der.h"

#include <cstring>

namespace lanecrypt::cli {
namespace {

// A length below this takes one byte. Other lengths take a byte with the number of length bytes,
// and then those (X.690, 8.1.3).
constexpr size_t kLongLength = 128;

}  // namespace

size_t der_header_bytes(size_t length) {
  size_t bytes = 2;
  if (length >= kLongLength)
    for (size_t rest = length; rest != 0; rest >>= 8) ++bytes;
  return bytes;
}

void DerWriter::header(uint8_t tag, size_t length) {
  *at_++ = tag;
  const size_t more = der_header_bytes(length) - 2;
  *at_++ = more == 0 ? uint8_t(length) : uint8_t(kLongLength | more);
  for (size_t n = more; n-- > 0;) *at_++ = uint8_t(length >> (8 * n));
}

void DerWriter::bytes(const void *from, size_t length) {
  std::memcpy(at_, from, length);
  at_ += length;
}

std::optional<std::span<const uint8_t>> DerReader::take(uint8_t tag) {
  if (rest_.size() < 2 || rest_[0] != tag) return std::nullopt;
  size_t length = rest_[1], header = 2;
  if (length >= kLongLength) {
    header += length - kLongLength;
    if (header == 2 || header > 2 + sizeof length || header > rest_.size()) return std::nullopt;
    length = 0;
    for (size_t at = 2; at < header; at++) length = length << 8 | rest_[at];
    if (der_header_bytes(length) != header) return std::nullopt;
  }
  if (length > rest_.size() - header) return std::nullopt;
  const auto contents = rest_.subspan(header, length);
  rest_ = rest_.subspan(header + length);
  return contents;
}

}  // namespace lanecrypt::cli
