// The ends of messages with ciphertext stealing, in the variants CS1, CS2 and CS3 (addendum to SP
// 800-38A).
//
// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/stealing.h"

#include <gtest/gtest.h>

namespace lanecrypt {
namespace {

void expect_end(lc_cipher cipher, uint64_t bytes, uint32_t part_bytes, bool is_swapped) {
  const StealingEnd end = stealing_end(cipher, bytes);
  EXPECT_EQ(end.part_bytes, part_bytes) << cipher << ", " << bytes;
  EXPECT_EQ(end.is_swapped, is_swapped) << cipher << ", " << bytes;
  EXPECT_EQ(end.is_plain(), part_bytes == 16 && !is_swapped) << cipher << ", " << bytes;
}

TEST(Stealing, NobodyIsThereToStealFromInOneBlock) {
  for (lc_cipher cipher : {LC_AES_CBC_CS1, LC_AES_CBC_CS2, LC_AES_CBC_CS3})
    expect_end(cipher, 16, 16, false);
}

TEST(Stealing, OfWholeBlocksOnlyCs3Swaps) {
  for (uint64_t bytes : {uint64_t{32}, uint64_t{48}, uint64_t{1} << 33}) {
    expect_end(LC_AES_CBC_CS1, bytes, 16, false);
    expect_end(LC_AES_CBC_CS2, bytes, 16, false);
    expect_end(LC_AES_CBC_CS3, bytes, 16, true);
  }
}

TEST(Stealing, OfAPartOnlyCs1DoesNot) {
  for (uint64_t before : {uint64_t{16}, uint64_t{32}, uint64_t{1} << 33})
    for (uint32_t part = 1; part < 16; ++part) {
      expect_end(LC_AES_CBC_CS1, before + part, part, false);
      expect_end(LC_AES_CBC_CS2, before + part, part, true);
      expect_end(LC_AES_CBC_CS3, before + part, part, true);
    }
}

}  // namespace
}  // namespace lanecrypt
