// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/counter_block.h"

#include <gtest/gtest.h>

namespace lanecrypt::cli {
namespace {

Block filled(uint8_t high, uint8_t low) {
  Block block;
  for (int i = 0; i < 16; i++) block[i] = i < 8 ? high : low;
  return block;
}

TEST(CounterBlock, NothingAddedChangesNothing) {
  EXPECT_EQ(advance_counter(filled(0xa5, 0x5a), 0), filled(0xa5, 0x5a));
}

TEST(CounterBlock, CountsBigEndian) {
  Block sum{};
  sum[15] = 0x02;
  sum[14] = 0x01;
  EXPECT_EQ(advance_counter(Block{}, 0x102), sum);
}

TEST(CounterBlock, CarriesOver64Bits) {
  Block sum{};
  sum[7] = 1;
  EXPECT_EQ(advance_counter(filled(0, 0xff), 1), sum);
  Block most{};
  for (int i = 8; i < 16; i++) most[i] = 0xff;
  sum = most;
  sum[7] = 1;
  sum[15] = 0xfe;
  EXPECT_EQ(advance_counter(most, UINT64_MAX), sum);
}

TEST(CounterBlock, WrapsAt128Bits) { EXPECT_EQ(advance_counter(filled(0xff, 0xff), 1), Block{}); }

TEST(CounterBlock, StepsAddUp) {
  const Block start = filled(0xff, 0xfe);
  EXPECT_EQ(advance_counter(advance_counter(start, UINT64_MAX), 12345),
            advance_counter(advance_counter(start, 12345), UINT64_MAX));
}

}  // namespace
}  // namespace lanecrypt::cli
