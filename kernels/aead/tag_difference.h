// Comparison of tags in constant time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// Returns 0 if the first `bytes` of two tags are equal.
FN u32 tag_difference(Block one, Block other, u32 bytes) {
  u32 difference = 0;
  UNROLL for (u32 i = 0; i < 16; ++i) {
    if (i < bytes) difference |= BYTE_OF(one.w[i / 4] ^ other.w[i / 4], i % 4);
  }
  return difference;
}
