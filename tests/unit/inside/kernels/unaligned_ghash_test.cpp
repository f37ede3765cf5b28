// GHASH by matrices for texts at any address: with matrices that are made for the text's address
// modulo 16 and with general ones, compared with the kernel by threads. The kernels run on the
// host.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "device/host/host_threads.h"
#include "kernels/aead/ghash_matrix.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test::unaligned_ghash {
namespace {

constexpr u32 kThreads = 32, kLevels = 3;
using Bytes = std::vector<uint8_t>;
using Words = std::vector<u32>;

// Returns the powers of two keys, H^1 and so on.
Words make_powers(Random &random) {
  Words blocks(8), powers(2 * kLevels * GHASH_LEVEL_WORDS);
  random.fill(reinterpret_cast<uint8_t *>(blocks.data()), blocks.size() * 4);
  ghash_powers(blocks.data(), powers.data(), 2, kLevels);
  return powers;
}

// Adjacent runs, as of one text, and their hashes.
class Runs {
 public:
  Runs(Words powers, u32 key, std::vector<u64> lengths)
      : powers_(std::move(powers)), key_(key), lengths_(std::move(lengths)) {
    u64 at = 0;
    for (const u64 length : lengths_) {
      runs_.push_back({.at = at,
                       .length = length,
                       .exponent = 1 + at % 1000,
                       .key = key,
                       .source = HASH_SOURCE_DATA,
                       .matrices = HASH_NO_MATRICES,
                       .piece = 0});
      at += length;
    }
  }

  Words by_threads(const uint8_t *text) const {
    Words hashes(runs_.size() * HASH_WORDS);
    for (u32 group = 0; group < runs_.size(); ++group) {
      Words local(HASH_RUN_SHARED_WORDS);
      device::run_threads(kThreads, group, u32(runs_.size()), [&] {
        ghash_runs_unaligned(runs_.data(), powers_.data(), kLevels, text, nullptr, hashes.data(),
                             local.data());
      });
    }
    return hashes;
  }

  template <typename Kernel>
  Words by_matrices(const uint8_t *text, u32 skew, Kernel kernel) const {
    Words matrices(GHASH_MATRIX_WORDS), hashes(runs_.size() * HASH_WORDS);
    const u32 set = GHASH_SET(key_, skew);
    ghash_matrices(&set, 1, powers_.data(), kLevels, matrices.data());
    const GhashBatch batch = {0, u32(runs_.size()), 0, 0};
    Words local(GHASH_MATRIX_SHARED_WORDS);
    device::run_threads(kThreads, 0, 1, [&] {
      kernel(runs_.data(), &batch, 1, matrices.data(), powers_.data(), kLevels, text, nullptr,
             hashes.data(), local.data());
    });
    return hashes;
  }

 private:
  Words powers_;
  u32 key_;
  std::vector<u64> lengths_;
  std::vector<HashRun> runs_;
};

TEST(UnalignedGhash, IsThatOfTheText) {
  Random random(83);
  constexpr u64 kTile = 16 * GHASH_TILE_BLOCKS;
  const Words powers = make_powers(random);
  const std::vector<u64> kLengths[] = {
      {kTile, kTile + 7}, {16 * 40, 16 * 37 + 15}, {16, 16 * 2, 15}};
  for (const u32 skew : {0u, 1u, 4u, 5u, 8u, 11u, 15u})
    for (const auto &lengths : kLengths) {
      SCOPED_TRACE("skew " + std::to_string(skew) + ", first " + std::to_string(lengths.front()));
      u64 length = 0;
      for (const u64 one : lengths) length += one;
      const Runs runs(powers, skew % 2, lengths);
      Bytes memory(length + 96);
      uint8_t *const text =
          memory.data() + (-reinterpret_cast<uintptr_t>(memory.data()) & 15) + 32 + skew;
      random.fill(memory.data(), memory.size());
      const Words expected = runs.by_threads(text);
      EXPECT_EQ(expected, runs.by_matrices(text, skew, ghash_matrix_runs));
      EXPECT_EQ(expected, runs.by_matrices(text, 0, ghash_matrix_runs_unaligned));
      // Bytes around the text do not affect the hash.
      random.fill(memory.data(), static_cast<u64>(text - memory.data()));
      random.fill(text + length, 32);
      EXPECT_EQ(expected, runs.by_matrices(text, skew, ghash_matrix_runs));
    }
}

}  // namespace
}  // namespace lanecrypt::test::unaligned_ghash
