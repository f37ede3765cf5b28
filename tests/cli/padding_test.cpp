// The padding of the last block (PKCS #7) is computed and checked correctly.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/padding.h"

#include <gtest/gtest.h>

#include <array>

namespace lanecrypt::cli {
namespace {

using Bytes = std::array<uint8_t, 16>;

// A straightforward implementation of the rule, with which the tested function must agree.
std::optional<size_t> plain_reading(const Bytes &block) {
  const size_t count = block[15];
  if (count == 0 || count > 16) return std::nullopt;
  for (size_t i = 16 - count; i < 16; i++)
    if (block[i] != count) return std::nullopt;
  return count;
}

TEST(Padding, FillsToTheBlock) {
  EXPECT_EQ(padding_bytes(0), 16u);
  EXPECT_EQ(padding_bytes(1), 15u);
  EXPECT_EQ(padding_bytes(15), 1u);
  EXPECT_EQ(padding_bytes(16), 16u);
  EXPECT_EQ(padding_bytes((uint64_t{1} << 40) + 3), 13u);
}

TEST(Padding, EveryLastByte) {
  for (int filler : {0, 1, 7, 16, 200})
    for (int last = 0; last < 256; last++) {
      Bytes block;
      block.fill(static_cast<uint8_t>(filler));
      block[15] = static_cast<uint8_t>(last);
      EXPECT_EQ(read_padding(block), plain_reading(block)) << filler << " " << last;
    }
}

TEST(Padding, OneWrongByteAnywhere) {
  for (uint8_t count = 1; count <= 16; count++)
    for (int wrong = 0; wrong < 16; wrong++)
      for (int bit = 0; bit < 8; bit++) {
        Bytes block;
        block.fill(0xee);
        for (int i = 16 - count; i < 16; i++) block[i] = count;
        ASSERT_EQ(read_padding(block), size_t{count});
        block[wrong] ^= static_cast<uint8_t>(1 << bit);
        EXPECT_EQ(read_padding(block), plain_reading(block));
      }
}

}  // namespace
}  // namespace lanecrypt::cli
