// Ciphertext stealing: how the last two blocks of a message of CBC come to lie (the
// addendum to SP 800-38A).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

struct StealingEnd {
  uint32_t part_bytes;  // of the message's last block, 1 to 16
  // The last block of ciphertext, which is whole, stands before what is left of the one that
  // it stole from, and not behind.
  bool is_swapped;

  // All is as in CBC without stealing.
  constexpr bool is_plain() const { return part_bytes == 16 && !is_swapped; }
};

// Of a message of `bytes`, at least one block. CS1 never swaps, CS2 where the last block is
// not whole, CS3 wherever there are two.
constexpr StealingEnd stealing_end(lc_cipher cipher, uint64_t bytes) {
  const auto part_bytes = static_cast<uint32_t>((bytes - 1) % 16 + 1);
  const bool swaps = cipher == LC_AES_CBC_CS3 || (cipher == LC_AES_CBC_CS2 && part_bytes != 16);
  return {part_bytes, swaps && bytes > 16};
}

}  // namespace lanecrypt
