// ChaCha20 and GCM of device memory texts at any address: every byte is compared with OpenSSL, and
// the kernels for such texts must have run. Runs on an emulator whose thread blocks are warps.
//
// SPDX-License-Identifier: Apache-2.0
#include "any_address.h"

namespace lanecrypt::runtime {
namespace {

const Kernels kPlain = {"chacha20"}, kPlainUnaligned = {"chacha20_unaligned"};

// The kernels of ChaCha20-Poly1305 that do not use matrices.
Kernels thread_kernels(const std::string &runs) {
  return {"poly1305_keys", runs, "poly1305_weigh", "poly1305_sums"};
}

TEST_F(AnyAddress, OfChaCha20) {
  for (uint32_t skews = 0; skews < 256; ++skews) add(skews / 16, skews % 16, 1 + skews * 11 % 200);
  EXPECT_EQ(kPlainUnaligned, run(LC_CHACHA20));
}

TEST_F(AnyAddress, OfChaCha20InPlace) {
  for (uint32_t n = 0; n < 40; ++n) add(n % 16, 0, 1 + n * n * 7);
  in_place();
  EXPECT_EQ(kPlainUnaligned, run(LC_CHACHA20));
}

TEST_F(AnyAddress, OfSeveralKeysOfChaCha20) {
  key_count_ = 7;
  for (uint32_t n = 0; n < 60; ++n) add(5 * n % 16, 3 * n % 16, 1 + n * n * 5);
  EXPECT_EQ(kPlainUnaligned, run(LC_CHACHA20));
  EXPECT_EQ(thread_kernels("chacha20_poly1305_runs_unaligned"), run(LC_CHACHA20_POLY1305));
}

TEST_F(AnyAddress, OfOneLongText) {
  add(5, 13, 300007);
  EXPECT_EQ(kPlainUnaligned, run(LC_CHACHA20));
}

// One unaligned text among many is enough.
TEST_F(AnyAddress, OfOneTextAmongOthers) {
  for (uint32_t n = 0; n < 5; ++n) add(0, 0, 5000);
  EXPECT_EQ(kPlain, run(LC_CHACHA20));
  texts_[3].out += 1;
  EXPECT_EQ(kPlainUnaligned, run(LC_CHACHA20));
  texts_[3].out -= 1;
  texts_[2].in += 8;
  EXPECT_EQ(kPlainUnaligned, run(LC_CHACHA20));
}

TEST_F(AnyAddress, OfChaCha20Poly1305) {
  for (uint32_t skews = 0; skews < 256; ++skews) add(skews / 16, skews % 16, skews * 11 % 201);
  for (const bool tags_stay : {false, true})
    EXPECT_EQ(thread_kernels("chacha20_poly1305_runs_unaligned"),
              run(LC_CHACHA20_POLY1305, tags_stay));
}

TEST_F(AnyAddress, OfChaCha20Poly1305InPlace) {
  for (uint32_t n = 0; n < 40; ++n) add(n % 16, 0, n * n * 7);
  in_place();
  EXPECT_EQ(thread_kernels("chacha20_poly1305_runs_unaligned"), run(LC_CHACHA20_POLY1305));
  for (Text &text : texts_) text.in = text.out = text.in / 16 * 16;
}

TEST_F(AnyAddress, OfLongMessagesOfChaCha20Poly1305) {
  add(5, 5, 16384);
  add(0, 11, 70001);
  add(9, 0, 32768 + 64);
  EXPECT_EQ(thread_kernels("chacha20_poly1305_runs_unaligned"), run(LC_CHACHA20_POLY1305, true));
}

TEST_F(AnyAddress, OfAlignedMessagesOfChaCha20Poly1305) {
  for (uint32_t n = 0; n < 3; ++n) add(0, 0, 20000);
  EXPECT_EQ(thread_kernels("chacha20_poly1305_runs"), run(LC_CHACHA20_POLY1305, true));
}

TEST_F(AnyAddress, OfShortMessages) {
  for (uint32_t n = 0; n < 64; ++n)
    add(n % 16, 5 * n % 16, n < 60 ? n * 5 : 16384 - 300 * (n - 60));
  EXPECT_EQ(Kernels{"chacha20_poly1305_short"}, run(LC_CHACHA20_POLY1305, true));
}

TEST_F(AnyAddress, OfShortMessagesInPlace) {
  for (uint32_t n = 0; n < 32; ++n) add(n % 16, 0, n < 28 ? n * 7 : 4000 + n);
  in_place();
  EXPECT_EQ(Kernels{"chacha20_poly1305_short"}, run(LC_CHACHA20_POLY1305, true));
}

// Ciphertexts that all have the same address modulo 16 have matrices for that. Others are moved.
TEST_F(AnyAddress, OfGcmByMatrices) {
  add(3, 5, 500003);
  add(0, 5, 600000);
  for (const bool is_alike : {true, false}) {
    if (!is_alike) texts_[1].out += 1;
    const Kernels kernels = run(LC_AES_GCM, true);
    EXPECT_EQ(is_alike, kernels.contains("ghash_matrix_runs"));
    EXPECT_EQ(!is_alike, kernels.contains("ghash_matrix_runs_unaligned"));
  }
}

// If threads cannot exchange words, the kernels that do not need that are used.
TEST_F(AnyAddress, WithoutWarps) {
  open("1");
  for (uint32_t n = 0; n < 70; ++n) add(n % 16, 3 * n % 16, 1 + n * 5);
  EXPECT_EQ(kPlain, run(LC_CHACHA20));
  EXPECT_EQ(thread_kernels("chacha20_poly1305_runs"), run(LC_CHACHA20_POLY1305, true));
  texts_.resize(50);
  EXPECT_EQ(Kernels{"chacha20_poly1305_short"}, run(LC_CHACHA20_POLY1305, true));
}

}  // namespace
}  // namespace lanecrypt::runtime
