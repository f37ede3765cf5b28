// Counters of modes: which bytes of the IV they are, and where they wrap. No device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/counter.h"

#include <gtest/gtest.h>

namespace lanecrypt {
namespace {

Iv filled(uint8_t high, uint8_t low) {
  Iv iv;
  for (int i = 0; i < 16; i++) iv[i] = i < 8 ? high : low;
  return iv;
}

TEST(Counter, NothingAddedChangesNothing) {
  const Iv start = filled(0xa5, 0x5a);
  Iv gcm = start, poly1305 = start;
  advance_gcm(gcm.data(), 0);
  advance_chacha20_poly1305(poly1305.data(), 0);
  for (const Iv &same : {advance_counter(start, 0), advance_chacha20(start, 0),
                         advance_tweak(start, 0), gcm, poly1305})
    EXPECT_EQ(same, start);
}

TEST(Counter, CountsBigEndian) {
  Iv sum{};
  sum[15] = 0x02;
  sum[14] = 0x01;
  EXPECT_EQ(advance_counter(Iv{}, 0x102), sum);
}

TEST(Counter, CarriesOver64Bits) {
  Iv sum{};
  sum[7] = 1;
  EXPECT_EQ(advance_counter(filled(0, 0xff), 1), sum);
  Iv most{};
  for (int i = 8; i < 16; i++) most[i] = 0xff;
  sum = most;
  sum[7] = 1;
  sum[15] = 0xfe;
  EXPECT_EQ(advance_counter(most, UINT64_MAX), sum);
}

TEST(Counter, WrapsAt128Bits) {
  EXPECT_EQ(advance_counter(filled(0xff, 0xff), 1), Iv{});
  EXPECT_EQ(advance_tweak(filled(0xff, 0xff), 1), Iv{});
}

TEST(Counter, StepsAddUp) {
  const Iv start = filled(0xff, 0xfe);
  EXPECT_EQ(advance_counter(advance_counter(start, UINT64_MAX), 12345),
            advance_counter(advance_counter(start, 12345), UINT64_MAX));
}

TEST(Counter, TweaksCountLittleEndian) {
  Iv sum{};
  sum[0] = 0x02;
  sum[1] = 0x01;
  EXPECT_EQ(advance_tweak(Iv{}, 0x102), sum);
  // A carry out of 64 bits.
  sum = {};
  sum[8] = 1;
  EXPECT_EQ(advance_tweak(filled(0xff, 0), 1), sum);
}

TEST(Counter, ChaCha20WrapsAt64Bits) {
  Iv sum = filled(0, 0x77);
  sum[0] = 0x02;
  sum[1] = 0x01;
  EXPECT_EQ(advance_chacha20(filled(0, 0x77), 0x102), sum);
  EXPECT_EQ(advance_chacha20(filled(0xff, 0x77), 1), filled(0, 0x77));
  // A carry out of 32 bits, where ChaCha20-Poly1305 wraps.
  Iv start = filled(0, 0x77), next = start;
  for (int i = 0; i < 4; i++) start[i] = 0xff;
  next[4] = 1;
  EXPECT_EQ(advance_chacha20(start, 1), next);
  Iv wrapped = start;
  advance_chacha20_poly1305(wrapped.data(), 1);
  EXPECT_EQ(wrapped, filled(0, 0x77));
  wrapped = start;
  advance_chacha20_poly1305(wrapped.data(), (uint64_t{5} << 32) + 0x103);
  EXPECT_EQ(wrapped, advance_chacha20(filled(0, 0x77), 0x102));
}

TEST(Counter, GcmWrapsAt32Bits) {
  Iv start = filled(0x77, 0x66), next = start;
  for (int i = 12; i < 16; i++) start[i] = 0xff, next[i] = 0;
  EXPECT_EQ(blocks_until_gcm_wraps(start.data()), 1u);
  advance_gcm(start.data(), 1);
  EXPECT_EQ(start, next);
  EXPECT_EQ(blocks_until_gcm_wraps(start.data()), uint64_t{1} << 32);
  advance_gcm(start.data(), (uint64_t{5} << 32) + 0x102);
  next[14] = 0x01;
  next[15] = 0x02;
  EXPECT_EQ(start, next);
  EXPECT_EQ(blocks_until_gcm_wraps(start.data()), (uint64_t{1} << 32) - 0x102);
}

}  // namespace
}  // namespace lanecrypt
