// Tests that clients with the same key share one key of the library, and that others do not get it.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "../../unit/support/rsa_test_key.h"
#include "service/daemon/work/library_keys.h"

namespace lanecrypt::service::daemon {
namespace {

using test::Bytes;

constexpr OperationKind kRsa{Family::kRsa, 1024}, kMlDsa{Family::kMlDsa, 44},
    kSlhDsa{Family::kSlhDsa, LC_SLH_DSA_SHA2_128F};

// The numbers of a key in the order of KeyPart, without kD.
using Numbers = std::array<Bytes, kD>;

Numbers numbers_of(const test::TestKey &key) {
  return {key.n, key.e, key.p, key.q, key.dp, key.dq, key.qinv};
}

KeyParts parts_of(const Numbers &numbers) {
  KeyParts parts;
  std::copy(numbers.begin(), numbers.end(), parts.begin());
  return parts;
}

TEST(LibraryKeys, AreOneForTheSameNumbers) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024)), copy = key;
  const LibraryKeyPointer first = keys.get(kRsa, parts_of(key)),
                          second = keys.get(kRsa, parts_of(copy));
  ASSERT_NE(nullptr, first);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, keys.get(kRsa, parts_of(numbers_of(test::TestKey::random(1024)))));
}

TEST(LibraryKeys, AreNotSharedWithWhoKnowsLess) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024));
  const LibraryKeyPointer good = keys.get(kRsa, parts_of(key));
  ASSERT_NE(nullptr, good);
  // Each private number wrong in turn, and the primes in the other order.
  Numbers wrong = key;
  for (size_t n = kP; n < kD; ++n) {
    wrong[n].back() ^= 2;
    EXPECT_EQ(nullptr, keys.get(kRsa, parts_of(wrong)));
    wrong[n].back() ^= 2;
  }
  wrong[kP].swap(wrong[kQ]);
  EXPECT_EQ(nullptr, keys.get(kRsa, parts_of(wrong)));
  EXPECT_EQ(good, keys.get(kRsa, parts_of(key)));
}

// Their primes are not tested: that would take longer than for any key that a device takes.
TEST(LibraryKeys, ThatNoDeviceTakesAreRefused) {
  LibraryKeys keys;
  const test::Bn exponent = test::bn(), longest = test::bn();
  const auto key_with = [&](const BIGNUM *p, const test::TestKey &other) {
    return keys.get(kRsa, parts_of(numbers_of({p, other.second.get(), exponent.get()})));
  };
  const test::TestKey &other = test::key_of_bits(1024);
  BN_set_word(exponent.get(), 65537);
  EXPECT_NE(nullptr, key_with(other.first.get(), other));
  // A modulus of 1022 bits has as many bytes as one of 1024 bits.
  const test::TestKey &shorter = test::key_of_bits(1022);
  EXPECT_EQ(nullptr, key_with(shorter.first.get(), shorter));
  // The Mersenne prime 2^4253 - 1.
  BN_set_bit(longest.get(), 4253);
  BN_sub_word(longest.get(), 1);
  EXPECT_EQ(nullptr, key_with(longest.get(), other));
  BN_zero(exponent.get());
  BN_set_bit(exponent.get(), 64);
  BN_set_bit(exponent.get(), 0);
  EXPECT_EQ(nullptr, key_with(other.first.get(), other));
}

// Returns a private key of ML-DSA-44 whose seed has all bytes equal to `byte`.
Bytes ml_dsa_key(uint8_t byte) {
  lc_context *context = nullptr;
  lc_options options{};
  options.struct_size = sizeof options;
  options.devices = "none";
  EXPECT_EQ(LC_OK, lc_open(&options, &context));
  const Bytes seed(32, byte);
  Bytes open(lc_ml_dsa_bytes(LC_ML_DSA_44, LC_ML_DSA_PUBLIC_KEY));
  Bytes secret(lc_ml_dsa_bytes(LC_ML_DSA_44, LC_ML_DSA_PRIVATE_KEY));
  lc_ml_dsa_message message{};
  message.random = seed.data();
  message.public_key = open.data();
  message.private_key = secret.data();
  lc_ml_dsa_job job{};
  job.struct_size = sizeof job;
  job.operation = LC_ML_DSA_GENERATE;
  job.set = LC_ML_DSA_44;
  job.device = LC_CPU;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  EXPECT_EQ(LC_OK, lc_ml_dsa_run(context, &job, nullptr)) << lc_last_error();
  lc_close(context);
  return secret;
}

TEST(LibraryKeys, OfMlDsaToo) {
  LibraryKeys keys;
  Bytes secret = ml_dsa_key(1);
  const Bytes other = ml_dsa_key(2);
  const LibraryKeyPointer first = keys.get(kMlDsa, {secret});
  ASSERT_NE(nullptr, first);
  EXPECT_NE(nullptr, first->ml_dsa());
  EXPECT_EQ(nullptr, first->rsa());
  EXPECT_EQ(first, keys.get(kMlDsa, {secret}));
  EXPECT_NE(nullptr, keys.get(kMlDsa, {other}));
  EXPECT_NE(first, keys.get(kMlDsa, {other}));
  // A client with another K, on which nothing else of the key depends, gets its own key.
  secret[32] ^= 1;
  const LibraryKeyPointer second = keys.get(kMlDsa, {secret});
  EXPECT_NE(nullptr, second);
  EXPECT_NE(first, second);
  // A part of s1 or of t0 that does not match the public key.
  secret[128] ^= 1;
  EXPECT_EQ(nullptr, keys.get(kMlDsa, {secret}));
  secret[128] ^= 1;
  secret.back() ^= 1;
  EXPECT_EQ(nullptr, keys.get(kMlDsa, {secret}));
}

// Returns SK.seed, PK.seed and PK.root of a key of SLH-DSA-SHA2-128f.
Bytes slh_dsa_key(lc_context *context, uint8_t byte) {
  const Bytes seeds(48, byte);
  Bytes made(64);
  lc_slh_dsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.set = LC_SLH_DSA_SHA2_128F;
  generation.device = LC_CPU;
  generation.count = 1;
  generation.seeds = seeds.data();
  generation.keys = made.data();
  EXPECT_EQ(LC_OK, lc_slh_dsa_generate(context, &generation, nullptr)) << lc_last_error();
  made.erase(made.begin() + 16, made.begin() + 32);
  return made;
}

TEST(LibraryKeys, OfSlhDsaToo) {
  lc_context *context = nullptr;
  lc_options options{};
  options.struct_size = sizeof options;
  options.devices = "none";
  ASSERT_EQ(LC_OK, lc_open(&options, &context));
  {
    LibraryKeys keys;
    Bytes secret = slh_dsa_key(context, 1);
    EXPECT_THROW(keys.get(kSlhDsa, {secret}), NotChecked);
    bool may_ask = false;
    keys.open(context, [&] { return may_ask; });
    EXPECT_THROW(keys.get(kSlhDsa, {secret}), NotChecked);
    may_ask = true;
    const LibraryKeyPointer first = keys.get(kSlhDsa, {secret});
    ASSERT_NE(nullptr, first);
    EXPECT_NE(nullptr, first->slh_dsa());
    EXPECT_EQ(nullptr, first->rsa());
    EXPECT_EQ(nullptr, first->ml_dsa());
    EXPECT_EQ(first, keys.get(kSlhDsa, {secret}));
    EXPECT_NE(first, keys.get(kSlhDsa, {slh_dsa_key(context, 2)}));
    // Seeds, or a root, of another key.
    for (const size_t at : {0, 16, 32, 47}) {
      secret[at] ^= 1;
      EXPECT_EQ(nullptr, keys.get(kSlhDsa, {secret})) << at;
      secret[at] ^= 1;
    }
    // The same bytes as a key of the SHAKE set.
    EXPECT_EQ(nullptr, keys.get({Family::kSlhDsa, LC_SLH_DSA_SHAKE_128F}, {secret}));
  }
  lc_close(context);
}

TEST(LibraryKeys, GoWithTheirLastClient) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024));
  const KeyParts parts = parts_of(key);
  LibraryKeyPointer first = keys.get(kRsa, parts), second = keys.get(kRsa, parts);
  const std::weak_ptr<const LibraryKey> seen = first;
  first.reset();
  EXPECT_FALSE(seen.expired());
  second.reset();
  EXPECT_TRUE(seen.expired());
  EXPECT_NE(nullptr, keys.get(kRsa, parts));
}

TEST(LibraryKeys, BearThreadsThatBringAndLeaveThem) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024));
  const KeyParts parts = parts_of(key);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const LibraryKeyPointer got = keys.get(kRsa, parts);
        ASSERT_NE(nullptr, got);
        EXPECT_TRUE(got->is(parts));
      }
    });
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace lanecrypt::service::daemon
