// ChaCha20-Poly1305 by matrices for texts at any address: the warps' kernel, compared with the
// kernel by threads, which accesses single bytes. The kernels run on the host.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/host/host_threads.h"
#include "kernels/aead/poly1305_matrix.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test::unaligned_hash {
namespace {

constexpr u32 kThreads = 32;
using Bytes = std::vector<uint8_t>;
using Words = std::vector<u32>;

struct Result {
  Bytes memory;
  Words hashes;
  bool operator==(const Result &) const = default;
};

// Two runs of one message, in memory with random bytes around it.
class Message {
 public:
  Message(u32 in_skew, u32 out_skew, bool in_place, u32 opens, Random &random)
      : in_skew_(in_place ? out_skew : in_skew),
        out_skew_(out_skew),
        in_place_(in_place),
        opens_(opens),
        in_(kBytes + 96),
        out_(kBytes + 96),
        keys_(BLOCK_KEY_WORDS),
        key_(POLY1305_KEY_WORDS) {
    random.fill(in_.data(), in_.size());
    random.fill(out_.data(), out_.size());
    random.fill(reinterpret_cast<uint8_t *>(keys_.data()), keys_.size() * 4);
    u32 x[16];
    random.fill(reinterpret_cast<uint8_t *>(x), sizeof x);
    const Poly r = poly_clamp(x);
    std::copy(r.w, r.w + 5, key_.begin());
    piece_.iv[0] = 1;
    for (u32 i = 1; i < 4; ++i) piece_.iv[i] = static_cast<u32>(random.next());
    for (u32 n = 0; n < 2; ++n)
      runs_.push_back({.at = n * POLY1305_TILE_BYTES,
                       .length = POLY1305_TILE_BYTES,
                       .exponent = 1,
                       .key = 0,
                       .source = HASH_SOURCE_DATA,
                       .matrices = HASH_NO_MATRICES,
                       .piece = 0});
  }

  Result by_threads() const {
    return by([this](const u8 *in, u8 *out, Words &hashes) {
      for (u32 group = 0; group < 2; ++group) {
        Words local(POLY1305_RUN_SHARED_WORDS);
        device::run_threads(kThreads, group, 2, [&] {
          chacha20_poly1305_runs(runs_.data(), &piece_, keys_.data(), key_.data(), opens_, in, out,
                                 nullptr, hashes.data(), local.data());
        });
      }
    });
  }

  Result by_matrices() const {
    Words matrices(POLY1305_MATRIX_WORDS);
    const u32 number = 0;
    poly1305_matrices(&number, 1, key_.data(), matrices.data());
    const GhashBatch batch = {0, 2, 0, 0};
    return by([&](const u8 *in, u8 *out, Words &hashes) {
      Words local(POLY1305_MATRIX_SHARED_WORDS);
      device::run_threads(kThreads, 0, 1, [&] {
        chacha20_poly1305_matrix_runs_unaligned(runs_.data(), &batch, 1, matrices.data(), &piece_,
                                                keys_.data(), key_.data(), opens_, in, out,
                                                hashes.data(), local.data());
      });
    });
  }

 private:
  static constexpr u64 kBytes = 2 * POLY1305_TILE_BYTES;

  template <typename Kernel>
  Result by(Kernel kernel) const {
    Result result = {Bytes(kBytes + 128), Words(2 * HASH_WORDS)};
    // At a multiple of 16, whatever the allocator returned.
    Bytes room(2 * (kBytes + 128));
    uint8_t *const base = room.data() + (-reinterpret_cast<uintptr_t>(room.data()) & 15);
    uint8_t *const in = base, *const out = base + kBytes + 96;
    std::copy(in_.begin(), in_.end(), in);
    std::copy(out_.begin(), out_.end(), out);
    uint8_t *const to = out + 32 + out_skew_;
    kernel(in_place_ ? to : in + 32 + in_skew_, to, result.hashes);
    std::copy(out, out + kBytes + 96, result.memory.begin());
    for (u32 n = 0; n < 2; ++n) {
      // Numbers modulo 2^130 - 5 have several representations.
      const Block zero = {{0, 0, 0, 0}};
      Poly hash;
      std::copy_n(result.hashes.begin() + n * HASH_WORDS, 5, hash.w);
      const Block reduced = poly_finish(hash, zero);
      std::copy_n(reduced.w, 4, result.hashes.begin() + n * HASH_WORDS);
      result.hashes[n * HASH_WORDS + 4] = 0;
    }
    return result;
  }

  u32 in_skew_, out_skew_;
  bool in_place_;
  u32 opens_;
  Bytes in_, out_;
  Words keys_, key_;
  CipherPiece piece_ = {};
  std::vector<HashRun> runs_;
};

TEST(UnalignedHash, IsThatOfTheText) {
  Random random(81);
  const struct {
    u32 in, out;
    bool in_place;
  } kCases[] = {{5, 5, false},  {8, 8, true},   {0, 3, false},  {11, 0, false},
                {1, 15, false}, {15, 1, false}, {12, 8, false}, {15, 15, true}};
  for (const auto &one : kCases)
    for (const u32 opens : {0u, 1u}) {
      SCOPED_TRACE(std::to_string(one.in) + " to " + std::to_string(one.out) +
                   (one.in_place ? ", in place" : "") + (opens ? ", opens" : ""));
      const Message message(one.in, one.out, one.in_place, opens, random);
      EXPECT_TRUE(message.by_threads() == message.by_matrices());
    }
}

}  // namespace
}  // namespace lanecrypt::test::unaligned_hash
