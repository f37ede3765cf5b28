// The part of DER (ITU-T X.690) that key files need.
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

// Returns the size of an element's header: its tag and its length.
size_t der_header_bytes(size_t length);

// Writes elements into memory. The caller ensures that there is enough.
class DerWriter {
 public:
  explicit DerWriter(uint8_t *to) : at_(to) {}
  void header(uint8_t tag, size_t length);
  void bytes(const void *from, size_t length);

 private:
  uint8_t *at_;
};

// Reads a sequence of elements.
class DerReader {
 public:
  explicit DerReader(std::span<const uint8_t> of) : rest_(of) {}
  // Returns the contents of the next element. Returns nothing, and does not advance, if the element
  // has another tag, is truncated, or has a length that DER does not allow.
  std::optional<std::span<const uint8_t>> take(uint8_t tag);
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const uint8_t> rest_;
};

}  // namespace lanecrypt::cli
