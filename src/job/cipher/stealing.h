// Ciphertext stealing: the order of the last two blocks of a CBC message (addendum to SP 800-38A).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

struct StealingEnd {
  uint32_t part_bytes;  // of the message's last block, 1 to 16
  // Whether the last block of ciphertext, which is whole, precedes the rest of the one that it
  // stole from.
  bool is_swapped;

  // Returns whether the message is the same as in CBC without stealing.
  constexpr bool is_plain() const { return part_bytes == 16 && !is_swapped; }
};

// Returns the end of a message of `bytes` bytes, at least one block. CS1 never swaps. CS2 swaps if
// the last block is not whole. CS3 swaps whenever there are two blocks.
constexpr StealingEnd stealing_end(lc_cipher cipher, uint64_t bytes) {
  const auto part_bytes = static_cast<uint32_t>((bytes - 1) % 16 + 1);
  const bool swaps = cipher == LC_AES_CBC_CS3 || (cipher == LC_AES_CBC_CS2 && part_bytes != 16);
  return {part_bytes, swaps && bytes > 16};
}

}  // namespace lanecrypt
