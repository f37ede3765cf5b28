// Makes random calls on random streams. Call by call, the provider must behave like OpenSSL,
// wherever the threshold moves a stream between the CPU and the device.
//
// The tests run on the devices of LANECRYPT_TEST_DEVICES, or on the emulator if it is not set. The
// number of cases is multiplied by LANECRYPT_TEST_ROUNDS (1).
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "provider/provider_under_test.h"
#include "provider/random_input.h"
#include "test_scale.h"

namespace provider_test {
namespace {

// random_length() returns lengths around the boundaries: nothing, parts of blocks, whole blocks,
// more.
size_t random_length(Random &random) {
  switch (below(random, 8)) {
    case 0:
      return below(random, 3);
    case 1:
      return below(random, 17);
    case 2:
      return 16 * below(random, 5);
    case 3:
      return below(random, 100);
    case 4:
      return 16 * below(random, 40);
    case 5:
      return 16 * below(random, 40) + 1;
    default:
      return below(random, 1500);
  }
}

// random_iv() returns counters that soon wrap at 2^32, 2^64 or 2^128, and others.
Bytes random_iv(Random &random) {
  Bytes iv = random_bytes(random, 16);
  const size_t wraps[] = {0, 4, 8, 16};
  const size_t ones = wraps[below(random, 4)];
  std::fill(iv.end() - long(ones), iv.end(), uint8_t{0xFF});
  if (ones != 0) iv[15] = uint8_t(0xFF - below(random, 20));
  // ChaCha20's counter is in the first bytes, in little-endian order.
  if (below(random, 2) == 0) std::reverse(iv.begin(), iv.end());
  return iv;
}

const char *random_stealing(Random &random) {
  static const char *const kWays[] = {"CS1", "CS2", "CS3"};
  return kWays[below(random, 3)];
}

// run_case() runs one stream. A failure names its seed.
void run_case(Library &library, uint64_t seed) {
  Random random(seed);
  const char *cipher = kCiphers[below(random, kCipherCount)];
  const std::string name = cipher;
  // The mode follows "SM4-", or the bits of a key.
  const size_t bits = name.find_first_of("12"), from = name.starts_with("SM4-") ? 4 : bits + 4;
  const std::string mode = name.substr(name == "ChaCha20" ? name.size() : from);
  const bool is_ctr = mode == "CTR",
             is_stream = !mode.starts_with("ECB") && !mode.starts_with("CBC");
  Twins twins(library, cipher);
  Bytes key = random_bytes(random, 64), iv = random_iv(random);
  const int direction = int(below(random, 2));
  // Sometimes no IV is set. OpenSSL then uses zeros.
  twins.init(key.data(), below(random, 12) == 0 ? nullptr : iv.data(), direction);
  if (below(random, 2) == 0) twins.set_padding(0);
  const bool steals = mode == "CBC-CTS";
  if (steals) twins.set_text(OSSL_CIPHER_PARAM_CTS_MODE, random_stealing(random));
  const bool in_place_only = below(random, 3) == 0;
  for (size_t call = 0, calls = 1 + below(random, 12); call < calls && twins.is_whole(); ++call) {
    const Bytes in = random_bytes(random, random_length(random));
    const size_t misalignment = below(random, 3) == 0 ? 0 : below(random, 16);
    switch (below(random, 24)) {
      case 0:
        twins.duplicate();
        break;
      case 1:
        twins.read_parameters();
        break;
      case 2:
        twins.finish();
        break;
      case 3:
        twins.init(nullptr, nullptr, -1);
        break;
      case 4:
        iv = random_iv(random);
        twins.init(nullptr, iv.data(), -1);
        break;
      case 5:
        key = random_bytes(random, 64);
        twins.init(key.data(), below(random, 2) == 0 ? nullptr : iv.data(), int(below(random, 2)));
        break;
      case 6:
        twins.init(nullptr, nullptr, int(below(random, 2)));
        break;
      case 7:
        twins.set_padding(int(below(random, 2)));
        break;
      case 8:
        // EVP_Cipher() within a stream processes whole blocks.
        twins.at_once(is_stream ? in : Bytes(in.begin(), in.end() - long(in.size() % 16)),
                      in_place_only ? Twins::Aliasing::kInPlace : Twins::Aliasing::kApart,
                      misalignment);
        break;
      case 9:
        if (steals) twins.set_text(OSSL_CIPHER_PARAM_CTS_MODE, random_stealing(random));
        if (is_ctr) twins.set_num(unsigned(below(random, 16)));
        break;
      default:
        twins.update(in, in_place_only ? Twins::Aliasing::kInPlace : Twins::Aliasing::kApart,
                     misalignment);
    }
    if (below(random, 3) == 0) twins.read_parameters();
  }
  twins.finish();
  twins.read_parameters();
  EXPECT_TRUE(twins.is_whole()) << cipher << ", seed " << seed << ": " << twins.difference();
}

void run_cases(Library &library, uint64_t first_seed, uint64_t count) {
  const char *rounds = std::getenv("LANECRYPT_TEST_ROUNDS");
  if (rounds != nullptr) count *= std::strtoull(rounds, nullptr, 10);
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    run_case(library, seed);
    if (testing::Test::HasFailure()) return;
  }
}

class RandomStreams : public testing::TestWithParam<const char *> {};

TEST_P(RandomStreams, DoWhatOpenSSLDoes) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", GetParam()}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const uint64_t cases = std::max<uint64_t>(scaled(3000), 1000);
  run_cases(library, 1000000 * std::strtoull(GetParam(), nullptr, 10), cases);
  // A device has done its share, and not the CPU alone.
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), cases / 6);
  EXPECT_GT(library.counter("lanecrypt.device-bytes"), cases * 100);
  EXPECT_GT(library.counter("lanecrypt.cpu-jobs"), cases / 3);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Thresholds, RandomStreams, testing::Values("0", "1", "64", "257", "700"));

// The same streams through OpenCL, with fewer cases, because a launch on a CPU takes long.
TEST(Streams, DoWhatOpenSSLDoesThroughOpenCl) {
  Library library({{"devices", "opencl"}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const uint64_t cases = wants_every_case() ? 150 : 50;
  run_cases(library, 88000000, cases);
  if (library.text_param("lanecrypt.devices").find("\"id\": \"opencl:") == std::string::npos)
    GTEST_SKIP() << "no OpenCL device";
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), cases);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

TEST(Streams, DoWhatOpenSSLDoesWithNoDevice) {
  Library library({{"devices", "none"}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  run_cases(library, 77000000, 1000);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  EXPECT_GT(library.counter("lanecrypt.cpu-jobs"), 1000u);
}

TEST(Streams, DoWhatOpenSSLDoesWithRequireGpu) {
  Library library(
      {{"devices", devices_under_test()}, {"threshold_bytes", "100"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  // A device can do these streams completely, so there must be no error.
  for (uint64_t seed = 1; seed <= 500 && !HasFailure(); ++seed) {
    Random random(seed);
    Twins twins(library, kCiphers[below(random, kCipherCount)]);
    const Bytes key = random_bytes(random, 64), iv = random_iv(random);
    twins.init(key.data(), iv.data(), int(below(random, 2)));
    twins.set_padding(int(below(random, 2)));
    for (int call = 0; call < 5; ++call)
      twins.update(random_bytes(random, random_length(random)), Twins::Aliasing::kApart,
                   below(random, 16));
    twins.finish();
    EXPECT_TRUE(twins.is_whole()) << "seed " << seed << ": " << twins.difference();
  }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 400u);
}

TEST(Streams, RunOnEightThreadsAtOnce) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", "200"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] { run_cases(library, 500000000 + thread * 1000000, 250); });
  for (std::thread &thread : threads) thread.join();
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 500u);
}

// The carry of the counter must propagate through all sixteen bytes, at every position in the bulk.
TEST(Streams, CarryTheCounter) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Random random(5);
  for (const char *cipher : {"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"})
    for (size_t ones : {4, 8, 12, 16})
      for (int before = 0; before < 8; ++before) {
        Bytes key = random_bytes(random, 32), iv = random_bytes(random, 16);
        std::fill(iv.end() - long(ones), iv.end(), uint8_t{0xFF});
        iv[15] = uint8_t(0xFF - before);
        Twins twins(library, cipher);
        twins.init(key.data(), iv.data(), 1);
        for (size_t bytes : {size_t(5), size_t(16 * before + 11), size_t(64), size_t(4096)}) {
          twins.update(random_bytes(random, bytes), Twins::Aliasing::kApart, 3);
          twins.read_parameters();
        }
        twins.finish();
        ASSERT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
      }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 200u);
}

// ChaCha20's counter has 64 bits, as in OpenSSL. When the first 32 bits wrap, the carry goes into
// the first word of the nonce of RFC 8439. When all 64 bits wrap, it is dropped.
TEST(Streams, CarryChaCha20sCounter) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Random random(6);
  for (size_t ones : {4, 8})
    for (int before = 0; before < 8; ++before) {
      Bytes key = random_bytes(random, 32), iv = random_bytes(random, 16);
      std::fill(iv.begin(), iv.begin() + long(ones), uint8_t{0xFF});
      iv[0] = uint8_t(0xFF - before);
      Twins twins(library, "ChaCha20");
      twins.init(key.data(), iv.data(), 1);
      for (size_t bytes : {size_t(5), size_t(64 * before + 11), size_t(256), size_t(4096)})
        twins.update(random_bytes(random, bytes), Twins::Aliasing::kApart, 3);
      twins.finish();
      ASSERT_TRUE(twins.is_whole()) << ones << ", " << before << ": " << twins.difference();
    }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 30u);
}

// Requests of realistic size: in pieces, in several streams, at the default threshold.
TEST(Streams, CarryMegabytes) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", "1M"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Random random(9);
  uint64_t jobs = 0;
  for (const char *cipher : {"AES-128-ECB", "AES-256-CBC", "AES-256-CTR"})
    for (int direction : {1, 0}) {
      const Bytes key = random_bytes(random, 32), iv = random_iv(random);
      Twins twins(library, cipher);
      twins.init(key.data(), iv.data(), direction);
      for (size_t bytes : {size_t(1 << 20) - 1, size_t(7), size_t(1 << 20), size_t(5 << 19) + 13}) {
        twins.update(random_bytes(random, bytes), Twins::Aliasing::kApart, 1);
        // CBC encryption is one chain and stays on the CPU.
        if (bytes >= (1 << 20) && !(direction == 1 && std::string(cipher).ends_with("CBC"))) ++jobs;
        twins.read_parameters();
      }
      twins.finish();
      ASSERT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
    }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), jobs);
}

}  // namespace
}  // namespace provider_test
