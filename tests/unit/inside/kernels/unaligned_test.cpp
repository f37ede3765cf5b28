// block/unaligned.h: the threads of a warp XOR keystream to texts at any address. The code runs on
// the host.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/host/host_threads.h"
#include "kernels/block/unaligned.h"
#include "kernels/host_thread.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test {
namespace {

constexpr u32 kThreads = 32, kCount = 4;
using Bytes = std::vector<uint8_t>;

// A warp's threads and their shared scratch memory.
struct Warp {
  template <typename Work>
  void run(Work work) {
    device::run_threads(kThreads, 0, 1, [&] { work(device::host_thread.thread); });
  }
  u32 scratch[256] = {};
};

// Memory with a text whose address modulo 16 is `skew`, and random bytes around it.
struct Memory {
  Memory(u32 skew, u64 length, Random &random) : bytes(skew + length + 96), skew_(skew) {
    random.fill(bytes.data(), bytes.size());
  }
  uint8_t *text() {
    return bytes.data() + (-reinterpret_cast<uintptr_t>(bytes.data()) & 15) + 16 + skew_;
  }
  Bytes bytes;

 private:
  u32 skew_;
};

TEST(Unaligned, XorsATextAtAnyAddress) {
  Random random(77);
  constexpr u64 kRow = 16 * kThreads * kCount;
  for (const u32 out_skew : {0u, 1u, 8u, 15u})
    for (const u32 in_skew : {0u, 5u, 15u})
      for (const u64 length : {u64{1}, u64{17}, kRow - 5, 3 * kRow}) {
        SCOPED_TRACE(std::to_string(in_skew) + " to " + std::to_string(out_skew) + ", " +
                     std::to_string(length) + " bytes");
        Memory in(in_skew, length, random), out(out_skew, length, random);
        Bytes keystream(kRow * 5);
        random.fill(keystream.data(), keystream.size());
        const Bytes before = in.bytes;
        Bytes expected = out.bytes;
        const u64 at = static_cast<u64>(out.text() - out.bytes.data());
        // The text begins with block 3 of the keystream.
        for (u64 n = 0; n < length; ++n) expected[at + n] = in.text()[n] ^ keystream[16 * 3 + n];
        Warp warp;
        warp.run([&](u32 thread) {
          for (u64 row = 0; row < 5; ++row) {
            Block blocks[kCount];
            for (u32 n = 0; n < kCount; ++n)
              blocks[n] = load_block(keystream.data() + row * kRow + 16 * (thread + 32 * n));
            unaligned_xor(out.text(), in.text(), blocks, kCount,
                          row * kCount * kThreads + thread - 3, length, warp.scratch);
          }
        });
        EXPECT_TRUE(expected == out.bytes);
        EXPECT_TRUE(before == in.bytes);
      }
}

TEST(Unaligned, XorsATextInPlace) {
  Random random(78);
  for (const u32 skew : {0u, 5u, 12u}) {
    constexpr u64 kLength = 16 * kThreads * kCount * 2 - 7;
    Memory text(skew, kLength, random);
    Bytes keystream(16 * kThreads * kCount * 2), expected = text.bytes;
    random.fill(keystream.data(), keystream.size());
    const u64 at = static_cast<u64>(text.text() - text.bytes.data());
    for (u64 n = 0; n < kLength; ++n) expected[at + n] ^= keystream[n];
    Warp warp;
    warp.run([&](u32 thread) {
      for (u64 row = 0; row < 2; ++row) {
        Block blocks[kCount];
        for (u32 n = 0; n < kCount; ++n)
          blocks[n] =
              load_block(keystream.data() + 16 * (row * kCount * kThreads + thread + 32 * n));
        unaligned_xor(text.text(), text.text(), blocks, kCount, row * kCount * kThreads + thread,
                      kLength, warp.scratch);
      }
    });
    EXPECT_TRUE(expected == text.bytes);
  }
}

}  // namespace
}  // namespace lanecrypt::test
