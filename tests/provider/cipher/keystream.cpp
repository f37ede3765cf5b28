// Keystream that a device makes ahead of CTR streams of small updates: the same bytes as
// OpenSSL's, whatever happens to the stream. The counters show that the device made it.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "provider/measured_card.h"
#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {
namespace {

using Place = Twins::Place;

const uint8_t kKey[32] = {0x2b, 0x7e, 0x15, 0x16, 0x28}, kIv[16] = {0xf0, 0xf1, 0xf2};

// Enough memory for all streams of a test: on a busy machine, the memory of a stream that
// has ended does not come back at once. What is not needed is not taken.
Settings ahead(const char *after = "1", const char *memory = "1G") {
  return {{"devices", "host"},
          {"keystream", "always"},
          {"keystream_after", after},
          {"keystream_memory", memory}};
}

class Keystream : public MeasuredCard {
 protected:
  void load(const Settings &settings) {
    library_ = std::make_unique<Library>(settings);
    ASSERT_TRUE(library_->is_ready()) << library_->errors();
  }
  uint64_t made() { return library_->counter("lanecrypt.keystream-bytes"); }
  uint64_t wasted() { return library_->counter("lanecrypt.keystream-wasted-bytes"); }
  void TearDown() override {
    unsetenv("LANECRYPT_HOST_FAULT");
    library_.reset();
    MeasuredCard::TearDown();
  }

  std::unique_ptr<Library> library_;
};

// Updates of one length, from less than a block to longer than a piece of keystream,
// which is 4096 bytes in so short a stream.
TEST_F(Keystream, IsTheSameInUpdatesOfEveryLength) {
  load(ahead());
  Random random(1);
  std::vector<size_t> lengths = {500, 512, 1000, 4080, 4095, 4096, 4097, 5000, 8192, 10000, 60000};
  for (size_t bytes = 1; bytes <= 50; ++bytes) lengths.push_back(bytes);
  const char *const ciphers[] = {"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"};
  uint64_t all = 0;
  for (size_t n = 0; n < lengths.size(); ++n) {
    Twins twins(*library_, ciphers[n % 3]);
    twins.init(kKey, kIv, int(n % 2));
    const size_t bytes = lengths[n], whole = std::max<size_t>(20000, 5 * bytes);
    for (size_t at = 0; at < whole; at += bytes)
      twins.update(random_bytes(random, bytes), n % 3 == 0 ? Place::kInPlace : Place::kApart,
                   at % 16);
    twins.finish();
    twins.read_parameters();
    EXPECT_TRUE(twins.is_whole()) << bytes << ": " << twins.difference();
    // All but the first two updates.
    all += (whole + bytes - 1) / bytes * bytes - 2 * bytes;
    EXPECT_GE(made() + 32 * (n + 1), all) << bytes;
  }
  EXPECT_EQ(library_->counter("lanecrypt.failures"), 0u);
  // At most two pieces for each stream.
  EXPECT_LE(wasted(), lengths.size() * 2 * (60000 * 5 / 16));
}

// The counter wraps within the first pieces of keystream, between two, or later.
TEST_F(Keystream, HoldsForTheWholeCounter) {
  load(ahead());
  Random random(2);
  for (const size_t ones : {size_t{4}, size_t{8}, size_t{16}})
    for (const unsigned blocks_before : {1u, 5u, 255u, 256u, 257u, 511u, 512u, 1000u, 4000u}) {
      Bytes iv(16, 0x5A);
      std::fill(iv.end() - long(ones), iv.end(), uint8_t{0xFF});
      iv[14] = uint8_t(0xFF - blocks_before / 256);
      iv[15] = uint8_t(0xFF - blocks_before % 256);
      Twins twins(*library_, "AES-256-CTR");
      twins.init(kKey, iv.data(), 1);
      for (int call = 0; call < 100; ++call) {
        twins.update(random_bytes(random, 1000), Place::kInPlace, 1);
        if (call % 9 == 0) twins.read_parameters();
      }
      EXPECT_TRUE(twins.is_whole()) << ones << ", " << blocks_before << ": " << twins.difference();
    }
  EXPECT_GT(made(), 27 * 97000u);
}

TEST_F(Keystream, BeginsWhereTheStreamHasProvedLong) {
  load(ahead("100k"));
  Twins twins(*library_, "AES-128-CTR");
  twins.init(kKey, kIv, 1);
  for (int call = 0; call < 24; ++call) twins.update(Bytes(4096), Place::kApart, 0);
  EXPECT_EQ(library_->text_param("lanecrypt.devices"), "[]");
  EXPECT_EQ(made(), 0u);
  for (int call = 0; call < 24; ++call) twins.update(Bytes(4096), Place::kApart, 0);
  // OpenSSL does the update that reaches it.
  EXPECT_EQ(made(), 23 * 4096u);
  EXPECT_EQ(library_->counter("lanecrypt.device-bytes"), made());
  EXPECT_EQ(library_->counter("lanecrypt.device-jobs"), 23u);
  EXPECT_EQ(library_->counter("lanecrypt.cpu-bytes"), 25 * 4096u);
  // Another IV is another stream.
  twins.init(nullptr, kIv, -1);
  for (int call = 0; call < 24; ++call) twins.update(Bytes(4096), Place::kApart, 0);
  EXPECT_EQ(made(), 23 * 4096u);
  EXPECT_TRUE(twins.is_whole()) << twins.difference();
  // At most an eighth of the stream's length was made for nothing.
  EXPECT_LE(wasted(), 48 * 4096u / 8);
  EXPECT_GT(wasted(), 0u);
}

// Everything that may come between two updates.
TEST_F(Keystream, GoesOnOrEndsAmidTheStream) {
  load(ahead());
  Random random(3);
  for (int between = 0; between < 12; ++between) {
    Twins twins(*library_, "AES-192-CTR");
    twins.init(kKey, kIv, 1);
    for (int call = 0; call < 30; ++call) {
      twins.update(random_bytes(random, 777), Place::kApart, 5);
      if (call % 10 != 5) continue;
      const Bytes other = random_bytes(random, 32);
      switch (between) {
        case 0:
          twins.duplicate();
          break;
        case 1:
          twins.init(nullptr, nullptr, -1);
          break;
        case 2:
          twins.init(nullptr, other.data(), -1);
          break;
        case 3:
          twins.init(other.data(), nullptr, -1);
          break;
        case 4:
          twins.init(other.data(), other.data() + 16, 0);
          break;
        case 5:
          twins.finish();
          break;
        case 6:
          twins.set_num(unsigned(below(random, 16)));
          break;
        case 7:
          twins.at_once(random_bytes(random, 100), Place::kInPlace, 0);
          break;
        case 8:
          twins.read_parameters();
          break;
        case 9:
          twins.update({}, Place::kApart, 0);
          break;
        case 10:
          // Longer than small updates are.
          twins.update(random_bytes(random, 200000), Place::kInPlace, 0);
          break;
        default:
          twins.update(random_bytes(random, 1000), Place::kShifted, 0, 8);
      }
    }
    twins.read_parameters();
    EXPECT_TRUE(twins.is_whole()) << between << ": " << twins.difference();
    EXPECT_GT(made(), 0u);
  }
}

// A copy has none, and goes on by itself; both are right.
TEST_F(Keystream, IsNotSharedWithACopy) {
  load(ahead());
  EVP_CIPHER *const cipher = library_->cipher("AES-128-CTR", "gpu");
  EVP_CIPHER_CTX *one = O(EVP_CIPHER_CTX_new)(), *two = O(EVP_CIPHER_CTX_new)();
  ASSERT_EQ(O(EVP_CipherInit_ex2)(one, cipher, kKey, kIv, 1, nullptr), 1);
  const Bytes in(1001, 7);
  Bytes out(in.size()), from_one, from_two;
  int bytes = 0;
  const auto update = [&](EVP_CIPHER_CTX *context, Bytes &to) {
    ASSERT_EQ(O(EVP_CipherUpdate)(context, out.data(), &bytes, in.data(), int(in.size())), 1);
    to.insert(to.end(), out.begin(), out.end());
  };
  for (int call = 0; call < 9; ++call) update(one, from_one);
  from_one.clear();
  ASSERT_EQ(O(EVP_CIPHER_CTX_copy)(two, one), 1);
  for (int call = 0; call < 20; ++call) {
    update(one, from_one);
    update(two, from_two);
  }
  EXPECT_EQ(from_one, from_two);
  O(EVP_CIPHER_CTX_free)(one);
  from_two.clear();
  for (int call = 0; call < 5; ++call) update(two, from_two);
  O(EVP_CIPHER_CTX_free)(two);
}

// The process has memory for one stream; the next one gets it when that has ended.
TEST_F(Keystream, StaysWithinItsMemory) {
  load(ahead("1", "8M"));
  auto one = std::make_unique<Twins>(*library_, "AES-128-CTR");
  Twins two(*library_, "AES-256-CTR");
  one->init(kKey, kIv, 1);
  two.init(kKey, kIv, 1);
  for (int call = 0; call < 10; ++call) one->update(Bytes(1000), Place::kApart, 0);
  const uint64_t of_one = made();
  EXPECT_GT(of_one, 0u);
  for (int call = 0; call < 10; ++call) two.update(Bytes(1000), Place::kApart, 0);
  EXPECT_EQ(made(), of_one);
  EXPECT_TRUE(one->is_whole()) << one->difference();
  one.reset();
  // On a busy machine a device may still write there for a while.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (made() == of_one && std::chrono::steady_clock::now() < end) {
    two.update(Bytes(1000), Place::kApart, 0);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EXPECT_GT(made(), of_one);
  EXPECT_TRUE(two.is_whole()) << two.difference();
}

TEST_F(Keystream, IsOffWithoutMemoryOrByItsSetting) {
  for (const Settings &settings :
       {ahead("1", "4M"), Settings{{"devices", "host"}, {"keystream", "off"}},
        Settings{{"devices", "none"}, {"keystream", "always"}, {"keystream_after", "1"}}}) {
    load(settings);
    Twins twins(*library_, "AES-128-CTR");
    twins.init(kKey, kIv, 1);
    for (int call = 0; call < 100; ++call) twins.update(Bytes(1000), Place::kApart, 0);
    EXPECT_TRUE(twins.is_whole()) << twins.difference();
    EXPECT_EQ(library_->counter("lanecrypt.device-bytes"), 0u);
    EXPECT_EQ(library_->counter("lanecrypt.failures"), 0u);
  }
}

// By default nobody looks for a device if a stream is so short that a device could hardly
// gain.
TEST_F(Keystream, IsNotMadeForAShortStream) {
  load(Settings{{"devices", "host"}});
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  Bytes data(8192);
  int bytes = 0;
  ASSERT_EQ(
      O(EVP_CipherInit_ex2)(context, library_->cipher("AES-128-CTR", "gpu"), kKey, kIv, 1, nullptr),
      1);
  for (int call = 0; call < 10000; ++call)
    ASSERT_EQ(O(EVP_CipherUpdate)(context, data.data(), &bytes, data.data(), int(data.size())), 1);
  O(EVP_CIPHER_CTX_free)(context);
  EXPECT_EQ(library_->counter("lanecrypt.device-bytes"), 0u);
  EXPECT_EQ(library_->text_param("lanecrypt.devices"), "[]");
}

// If a device is open and the exclusive or was measured to be faster, keystream is tried.
// OpenSSL does what is not ready, and in the end everything, since the emulator is too
// slow.
TEST_F(Keystream, NobodyWaitsForASlowDevice) {
  store_quick_card();
  load({{"devices", "host"}, {"keystream_after", "1M"}});
  Twins large(*library_, "AES-128-CTR");
  large.init(kKey, kIv, 1);
  const Bytes much(4 << 20);
  for (int call = 0; call < 20000 && library_->counter("lanecrypt.device-jobs") == 0; ++call)
    large.update(much, Place::kInPlace, 0);
  ASSERT_TRUE(large.is_whole()) << large.difference();
  Random random(6);
  Twins twins(*library_, "AES-128-CTR");
  twins.init(kKey, kIv, 1);
  const Bytes in = random_bytes(random, 10007);
  for (int call = 0; call < 600; ++call) {
    twins.update(in, Place::kApart, 0);
    // Now and then the emulator catches up.
    if (call % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  for (int call = 0; call < 6000; ++call) twins.update(in, Place::kApart, 0);
  const uint64_t at_last = made() + wasted();
  for (int call = 0; call < 1000; ++call) twins.update(in, Place::kApart, 0);
  twins.finish();
  EXPECT_TRUE(twins.is_whole()) << twins.difference();
  EXPECT_EQ(library_->counter("lanecrypt.failures"), 0u);
  EXPECT_EQ(made() + wasted(), at_last);
#ifndef __SANITIZE_ADDRESS__
  // There the exclusive or is slower than OpenSSL, which is not.
  EXPECT_GT(at_last, 0u);
#endif
}

// If making it fails, the CPU makes it, and then OpenSSL has the stream.
TEST_F(Keystream, FailuresAreNotNoticed) {
  for (const char *fault :
       {"lost-after:0", "lost-after:1", "lost-after:5", "lost-download:0", "lost-download:3",
        "lost-upload:2", "fail-launch:2", "no-memory:0+", "wrong-blocks:0", "wrong-blocks:4"}) {
    setenv("LANECRYPT_HOST_FAULT", fault, 1);
    load(ahead());
    Random random(4);
    Twins twins(*library_, "AES-256-CTR");
    twins.init(kKey, kIv, 1);
    for (int call = 0; call < 60; ++call)
      twins.update(random_bytes(random, 1500), call % 2 != 0 ? Place::kApart : Place::kInPlace, 0);
    twins.read_parameters();
    EXPECT_TRUE(twins.is_whole()) << fault << ": " << twins.difference();
    EXPECT_LT(made(), 60 * 1500u);
  }
}

TEST_F(Keystream, AChildOfForkGoesOnWithout) {
  load(ahead("5000"));
  Random random(5);
  Twins twins(*library_, "AES-128-CTR");
  twins.init(kKey, kIv, 1);
  for (int call = 0; call < 10; ++call) twins.update(random_bytes(random, 999), Place::kApart, 0);
  const uint64_t before = made();
  EXPECT_GT(before, 0u);
  const pid_t child = fork();
  if (child == 0) {
    for (int call = 0; call < 4; ++call) twins.update(random_bytes(random, 999), Place::kApart, 0);
    bool right = twins.is_whole() && made() == 0;
    // A new stream has keystream of its own.
    twins.init(kKey, kIv, 0);
    for (int call = 0; call < 10; ++call) twins.update(random_bytes(random, 999), Place::kApart, 0);
    twins.read_parameters();
    right = right && twins.is_whole() && made() > 0;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (int call = 0; call < 10; ++call) twins.update(random_bytes(random, 999), Place::kApart, 0);
  EXPECT_TRUE(twins.is_whole()) << twins.difference();
  EXPECT_GT(made(), before);
}

}  // namespace
}  // namespace provider_test
