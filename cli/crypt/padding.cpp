// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/padding.h"

namespace lanecrypt::cli {

size_t padding_bytes(uint64_t data_bytes) { return 16 - data_bytes % 16; }

std::optional<size_t> read_padding(std::span<const uint8_t, 16> last_block) {
  const uint32_t count = last_block[15];
  // Not zero if `count` is 0 or above 16: then one of the subtractions is negative and has its top
  // bit set.
  uint32_t wrong = (count - 1) >> 31 | (16 - count) >> 31;
  for (uint32_t i = 0; i < 16; i++) {
    const uint32_t is_padding = 0u - ((i - count) >> 31);  // all ones if byte i from the end is
                                                           // padding
    wrong |= is_padding & (last_block[15 - i] ^ count);
  }
  if (wrong != 0) return std::nullopt;
  return count;
}

}  // namespace lanecrypt::cli
