// DER (X.690), as much of it as files of keys need.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lanecrypt::cli {

inline constexpr uint8_t kDerInteger = 0x02, kDerBits = 0x03, kDerOctets = 0x04,
                         kDerSequence = 0x30;

// Bytes before the contents of an element: its tag and its length.
size_t der_header_bytes(size_t length);

// Writes into memory that has room for all of it.
class DerWriter {
 public:
  explicit DerWriter(uint8_t *to) : at_(to) {}
  void header(uint8_t tag, size_t length);
  void bytes(const void *from, size_t length);

 private:
  uint8_t *at_;
};

// Reads elements that follow each other.
class DerReader {
 public:
  explicit DerReader(std::span<const uint8_t> of) : rest_(of) {}
  // The contents of the next element; nothing, and the reader stays where it is, if that has
  // another tag, is not whole, or has a length that DER does not allow.
  std::optional<std::span<const uint8_t>> take(uint8_t tag);
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const uint8_t> rest_;
};

}  // namespace lanecrypt::cli
