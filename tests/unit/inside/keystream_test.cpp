// Keystream that a device makes ahead of a stream, by itself: it is right wherever the
// stream is, used once, and wiped.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/keystream/keystream.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "unit/support/devices.h"
#include "unit/support/mapping_flags.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test {
namespace {

using provider::Keystream;
using provider::KeystreamPool;

constexpr uint64_t kSlabBytes = KeystreamPool::kSlabBytes;

// OpenSSL's keystream, from its beginning.
std::vector<uint8_t> reference_of(const uint8_t *key, const uint8_t *counter, size_t bytes) {
  std::vector<uint8_t> out(bytes);
  int done = 0;
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(
      EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  EVP_EncryptInit_ex(context.get(), EVP_aes_128_ctr(), nullptr, key, counter);
  EVP_EncryptUpdate(context.get(), out.data(), &done, out.data(), static_cast<int>(bytes));
  return out;
}

class KeystreamOfDevice : public testing::Test {
 protected:
  void open(uint32_t time_limit_ms = 0) {
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "host";
    options.time_limit_ms = time_limit_ms;
    ASSERT_EQ(LC_OK, lc_open(&options, &devices_));
    pool_ = std::make_unique<KeystreamPool>(devices_, 2 * kSlabBytes);
  }
  void TearDown() override {
    pool_.reset();
    lc_close(devices_);
  }
  std::unique_ptr<Keystream> begin(uint64_t done_bytes) {
    return std::unique_ptr<Keystream>(
        Keystream::begin(devices_, *pool_, key_, 16, counter_, done_bytes));
  }
  // Takes the memory of a stream that has ended. On a busy machine a device may still
  // write there, and it comes back later.
  bool take_in_time(uint8_t *slabs[2]) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (!pool_->take(slabs)) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  void expect_all_is_wiped() {
    uint8_t *slabs[2];
    ASSERT_TRUE(take_in_time(slabs));
    for (uint8_t *slab : slabs) {
      EXPECT_TRUE(std::all_of(slab, slab + kSlabBytes, [](uint8_t byte) { return byte == 0; }));
      pool_->give_back(slab);
    }
  }

  const uint8_t key_[16] = {1, 2, 3};
  const uint8_t counter_[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0, 0x01};
  lc_context *devices_ = nullptr;
  std::unique_ptr<KeystreamPool> pool_;
};

// The CPU does a part now and then. The rest is right, and in its place.
TEST_F(KeystreamOfDevice, IsRightWhateverIsSkipped) {
  open();
  constexpr size_t kBytes = 1 << 20;
  const std::vector<uint8_t> expected = reference_of(key_, counter_, kBytes);
  uint64_t used_without_waiting = 0;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6})
    for (const bool waits : {true, false}) {
      Random random(seed);
      const auto keystream = begin(seed * 100000);
      ASSERT_NE(nullptr, keystream);
      std::vector<uint8_t> out(kBytes, 0x5c), in(kBytes, 0x5c);
      size_t at = 0;
      // However slow the emulator is, its first piece is ready in the end.
      const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
      while (at == 0 && std::chrono::steady_clock::now() < end) {
        at = keystream->use(out.data(), in.data(), 1, waits);
        if (at == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      ASSERT_EQ(1u, at);
      ASSERT_EQ(expected[0] ^ 0x5c, out[0]);
      while (at < kBytes) {
        const size_t bytes =
            std::min<size_t>(random.below(random.below(8) == 0 ? 60000 : 3000), kBytes - at);
        const size_t done = random.below(8) == 0
                                ? 0
                                : keystream->use(out.data() + at, in.data() + at, bytes, waits);
        ASSERT_LE(done, bytes);
        for (size_t n = at; n < at + done; ++n) ASSERT_EQ(expected[n] ^ 0x5c, out[n]) << n;
        // Nothing is written beside it.
        if (at + done < kBytes) {
          ASSERT_EQ(0x5c, out[at + done]);
        }
        keystream->skip(bytes - done);
        // Otherwise the emulator hardly catches up.
        if (!waits) std::this_thread::sleep_for(std::chrono::microseconds(100));
        at += bytes;
        uint8_t counter[16];
        EXPECT_EQ(at % 16, keystream->tell(counter));
      }
      if (waits) {
        EXPECT_GT(keystream->used_bytes(), kBytes / 2);
      } else {
        used_without_waiting += keystream->used_bytes();
      }
      EXPECT_FALSE(keystream->is_over());
      (void)keystream->end();
      expect_all_is_wiped();
    }
  EXPECT_GT(used_without_waiting, 6u);
}

TEST_F(KeystreamOfDevice, TellsTheCounterOverItsEnd) {
  open();
  const auto keystream = begin(1 << 20);
  ASSERT_NE(nullptr, keystream);
  keystream->skip((0xFFF << 4) + 5);
  uint8_t counter[16];
  const uint8_t zeros[16] = {};
  EXPECT_EQ(5u, keystream->tell(counter));
  EXPECT_EQ(0, std::memcmp(counter, zeros, 16));
}

TEST_F(KeystreamOfDevice, HasPiecesNoLongerThanAPartOfTheStream) {
  open();
  for (const uint64_t done : {uint64_t{0}, uint64_t{1} << 20, uint64_t{1} << 40}) {
    const auto keystream = begin(done);
    ASSERT_NE(nullptr, keystream);
    // The other stream has the memory.
    EXPECT_EQ(nullptr, begin(done));
    const uint64_t piece = std::clamp<uint64_t>(done / 16, 4096, kSlabBytes);
    EXPECT_EQ(2 * piece, keystream->end());
    expect_all_is_wiped();
  }
}

// If the device hangs, the stream goes on without it, and ends.
TEST_F(KeystreamOfDevice, DoesNotWaitForADeviceThatHangs) {
  const ScopedEnvironment fault("LANECRYPT_HOST_FAULT", "stuck:0");
  open(5000);
  const auto keystream = begin(1 << 20);
  ASSERT_NE(nullptr, keystream);
  uint8_t data[100] = {};
  EXPECT_EQ(0u, keystream->use(data, data, sizeof data, false));
  (void)keystream->end();
  // That did not wait. Its memory comes back when the device is given up.
  uint8_t *slabs[2];
  EXPECT_FALSE(pool_->take(slabs));
  expect_all_is_wiped();
}

// It will encrypt data to come.
TEST_F(KeystreamOfDevice, IsLeftOutOfCoreDumps) {
  if (flags_of(this).empty()) GTEST_SKIP() << "the kernel tells no flags of mappings";
  open();
  uint8_t *slabs[2];
  ASSERT_TRUE(pool_->take(slabs));
  for (uint8_t *slab : slabs)
    for (const size_t at : {size_t{0}, kSlabBytes - 1})
      EXPECT_NE(std::string::npos, flags_of(slab + at).find(" dd ")) << at;
  for (uint8_t *slab : slabs) pool_->give_back(slab);
}

TEST_F(KeystreamOfDevice, IsOverWhereTheDeviceIsLost) {
  const ScopedEnvironment fault("LANECRYPT_HOST_FAULT", "lost-after:2");
  open();
  const std::vector<uint8_t> expected = reference_of(key_, counter_, 1 << 20);
  const auto keystream = begin(0);
  ASSERT_NE(nullptr, keystream);
  std::vector<uint8_t> data(1 << 20);
  size_t done = 0;
  while (!keystream->is_over() && done < data.size()) {
    const size_t now = keystream->use(data.data() + done, data.data() + done, 1000, true);
    if (now == 0) break;
    done += now;
  }
  EXPECT_TRUE(keystream->is_over());
  EXPECT_LT(done, data.size());
  EXPECT_TRUE(std::equal(data.begin(), data.begin() + static_cast<long>(done), expected.begin()));
  (void)keystream->end();
  expect_all_is_wiped();
}

TEST(XorAndWipe, DoesAsManyBytesAsItIsTold) {
  Random random(1);
  for (size_t bytes = 0; bytes < 300; ++bytes) {
    std::vector<uint8_t> in(320), keystream(320), out(320, 0xEE);
    for (size_t n = 0; n < in.size(); ++n) {
      in[n] = static_cast<uint8_t>(random.below(256));
      keystream[n] = static_cast<uint8_t>(1 + random.below(255));
    }
    const std::vector<uint8_t> key = keystream;
    const size_t shift = random.below(16);
    provider::xor_and_wipe(out.data(), in.data() + shift, keystream.data(), bytes);
    for (size_t n = 0; n < out.size(); ++n) {
      ASSERT_EQ(n < bytes ? in[n + shift] ^ key[n] : 0xEE, out[n]);
      ASSERT_EQ(n < bytes ? 0 : key[n], keystream[n]);
      if (n + shift + 1 >= in.size()) break;
    }
  }
}

}  // namespace
}  // namespace lanecrypt::test
