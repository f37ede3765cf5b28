// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/counter_block.h"

namespace lanecrypt::cli {

Block advance_counter(const Block &counter, uint64_t blocks) {
  Block sum;
  uint64_t carry = 0;
  for (int i = 15; i >= 0; i--) {
    const uint64_t digit = counter[i] + (blocks & 0xff) + carry;
    sum[i] = static_cast<uint8_t>(digit);
    carry = digit >> 8;
    blocks >>= 8;
  }
  return sum;
}

}  // namespace lanecrypt::cli
