// RSA key generation inside the library: composite candidates that a device accepts, the pool of
// primes, and the CPU's part until a device is open.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "cpu/random.h"
#include "primes/rsa_generator.h"
#include "public_exponents.h"
#include "unit/support/long_numbers.h"

namespace lanecrypt::runtime {
namespace {

using namespace test;

// A tester that accepts every candidate as a prime.
class Liar : public PrimeTester {
 public:
  size_t most_trials(uint32_t) const override { return 16; }
  Status reserve(uint32_t bits, size_t candidates, size_t trials) override {
    candidates_.resize(std::max(candidates_.size(), candidates * cpu::prime_stride_bytes(bits)));
    bases_.resize(std::max(bases_.size(), trials * cpu::prime_stride_bytes(bits)));
    return Status();
  }
  std::span<uint8_t> candidates() override { return candidates_; }
  std::span<uint8_t> bases() override { return bases_; }
  Status sieve(const std::shared_ptr<const cpu::SieveTable> &, size_t,
               std::span<uint8_t> survives) override {
    std::fill(survives.begin(), survives.end(), uint8_t{1});
    return Status();
  }
  Status test(uint32_t, std::span<const uint32_t>, std::span<uint8_t> passed) override {
    std::fill(passed.begin(), passed.end(), uint8_t{1});
    return Status();
  }
  void forget() override {}

 private:
  Bytes candidates_, bases_;
};

struct Taken {
  std::vector<Bytes> primes;
  static int key(void *argument, uint64_t number, const lc_rsa_parts *parts) {
    Taken &taken = *static_cast<Taken *>(argument);
    EXPECT_EQ(taken.primes.size() / 2, number);
    for (const lc_number &prime : {parts->p, parts->q}) {
      const auto *bytes = static_cast<const uint8_t *>(prime.bytes);
      taken.primes.emplace_back(bytes, bytes + prime.length);
    }
    return 1;
  }
};

RsaGeneration two_keys(Taken *taken, uint32_t device) {
  RsaGeneration what;
  what.bits = 1024;
  what.exponent.assign(kF4, kF4 + sizeof kF4);
  what.count = 2;
  what.device = device;
  what.on_key = Taken::key;
  what.argument = taken;
  return what;
}

TEST(RsaGenerator, ADeviceThatErrsGivesNoKey) {
  for (const lc_fallback fallback : {LC_FALLBACK_CPU, LC_FALLBACK_NONE}) {
    Counters of_cpu, of_device;
    RsaGenerator generator(of_cpu, fallback, {}, 0, [](const device::Found &, const DeviceTrust &) {
      return Result<std::unique_ptr<PrimeTester>>(std::make_unique<Liar>());
    });
    generator.add_device({}, of_device, true);
    Taken taken;
    lc_result result = {};
    const Status status = generator.run(two_keys(&taken, 0), &result);
    EXPECT_GT(result.failed_checks, 0u);
    EXPECT_EQ(1u, of_device.failures);
    if (fallback == LC_FALLBACK_NONE) {
      EXPECT_EQ(LC_ERROR_DEVICE, status.code());
      EXPECT_TRUE(taken.primes.empty());
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_GT(result.cpu_operations, 0u);
    ASSERT_EQ(4u, taken.primes.size());
    for (const Bytes &prime : taken.primes) EXPECT_TRUE(is_prime(bn_of(prime).get()));
    EXPECT_FALSE(generator.is_open());
  }
}

// Returns a factory of testers with the width of a device: they test enough candidates to find a
// dozen primes of 512 bits at once.
RsaGenerator::MakeTester by_cpu() {
  return [](const device::Found &, const DeviceTrust &) {
    return Result<std::unique_ptr<PrimeTester>>(make_cpu_primes(32));
  };
}

RsaGeneration with_own_random(RsaGeneration what) {
  what.random = [](void *, void *to, size_t bytes) {
    return cpu::random_bytes(to, bytes).ok() ? 1 : 0;
  };
  return what;
}

// Primes beyond those that a key needs are kept and used once, and never more than the limit.
TEST(RsaGenerator, APoolIsFilledAndUsed) {
  constexpr size_t kMost = 6;
  for (const bool by_environment : {true, false}) {
    if (by_environment) setenv("LANECRYPT_PRIME_POOL", "6", 1);
    Counters of_cpu, of_device;
    RsaGenerator generator(of_cpu, LC_FALLBACK_NONE, {}, by_environment ? 0 : kMost, by_cpu());
    unsetenv("LANECRYPT_PRIME_POOL");
    generator.add_device({}, of_device, true);
    std::set<Bytes> primes;
    size_t found_there = 0;
    for (int n = 0; n < 10; ++n) {
      const size_t there = kMost - generator.pool().room();
      Taken taken;
      lc_result result = {};
      RsaGeneration what = two_keys(&taken, 0);
      if (!by_environment) what = with_own_random(std::move(what));
      ASSERT_TRUE(generator.run(std::move(what), &result).ok());
      ASSERT_EQ(4u, taken.primes.size());
      for (const Bytes &prime : taken.primes) {
        EXPECT_TRUE(is_prime(bn_of(prime).get()));
        EXPECT_TRUE(primes.insert(prime).second) << "a prime used twice";
      }
      if (there >= 4) {
        EXPECT_EQ(0u, result.device_operations) << "all four were there";
        EXPECT_EQ(kMost - there + 4, generator.pool().room());
      }
      found_there += std::min<size_t>(there, 4);
    }
    EXPECT_GE(found_there, 4u);
    // A key with another exponent gets none of them. If only the environment asks for a pool,
    // neither does a caller with its own random generator.
    for (const bool other_exponent : {true, false}) {
      if (!other_exponent && !by_environment) continue;
      const size_t room = generator.pool().room();
      Taken taken;
      lc_result result = {};
      RsaGeneration what = two_keys(&taken, 0);
      if (other_exponent)
        what.exponent.assign(kComposite, kComposite + sizeof kComposite);
      else
        what = with_own_random(std::move(what));
      ASSERT_TRUE(generator.run(std::move(what), &result).ok());
      EXPECT_GT(result.device_operations, 0u);
      if (!other_exponent) {
        EXPECT_EQ(room, generator.pool().room());
      }
    }
  }
}

// Primes from numbers that could not be drawn are not kept.
TEST(RsaGenerator, NoPrimeOfAGeneratorThatFails) {
  Counters of_cpu, of_device;
  RsaGenerator generator(of_cpu, LC_FALLBACK_NONE, {}, 6, by_cpu());
  generator.add_device({}, of_device, true);
  Taken taken;
  lc_result result = {};
  RsaGeneration what = two_keys(&taken, 0);
  what.random = [](void *, void *to, size_t bytes) {
    memset(to, 0xff, bytes);
    return 0;
  };
  EXPECT_FALSE(generator.run(std::move(what), &result).ok());
  EXPECT_TRUE(taken.primes.empty());
  EXPECT_EQ(6u, generator.pool().room());
}

TEST(PrimePool, GivesEachOnce) {
  PrimePool pool(2);
  const PrimePool::Kind kind = {512, nullptr}, other = {514, nullptr};
  EXPECT_FALSE(pool.take(kind));
  EXPECT_TRUE(pool.put(kind, secure::KeyMemory(64)));
  EXPECT_TRUE(pool.put(other, secure::KeyMemory(72)));
  EXPECT_FALSE(pool.put(kind, secure::KeyMemory(64)));
  EXPECT_EQ(0u, pool.room());
  EXPECT_TRUE(pool.take(other).has_value());
  EXPECT_FALSE(pool.take(other).has_value());
  EXPECT_EQ(1u, pool.room());
  EXPECT_FALSE(PrimePool(0).put(kind, secure::KeyMemory(64)));
}

// The CPU begins, and the device continues when it is open.
TEST(RsaGenerator, TheCpuWorksUntilTheDeviceIsOpen) {
  Counters of_cpu, of_device;
  std::atomic<bool> may_open{false};
  RsaGenerator generator(of_cpu, LC_FALLBACK_CPU, {}, 0,
                         [&](const device::Found &, const DeviceTrust &) {
                           while (!may_open) std::this_thread::yield();
                           return Result<std::unique_ptr<PrimeTester>>(make_cpu_primes(1));
                         });
  generator.add_device({}, of_device, true);
  EXPECT_FALSE(generator.has_device_for_one());
  Taken taken;
  lc_result result = {};
  ASSERT_TRUE(generator.run(two_keys(&taken, LC_ANY_DEVICE), &result).ok());
  EXPECT_EQ(0u, result.device_operations);
  EXPECT_GT(result.cpu_operations, 0u);
  may_open = true;
  while (!generator.is_open()) std::this_thread::yield();
  result = {};
  taken.primes.clear();
  ASSERT_TRUE(generator.run(two_keys(&taken, LC_ANY_DEVICE), &result).ok());
  EXPECT_GT(result.device_operations, 0u);
  EXPECT_EQ(0u, result.cpu_operations);
}

// There are two devices. One uses a thread for each number, and in the other threads share a
// number. A single key is made by the latter, although it comes last. If there are several keys,
// both devices search.
TEST(RsaGenerator, ASingleKeyIsForThreadsThatShareANumber) {
  Counters of_cpu, of_lone, of_shared;
  RsaGenerator generator(of_cpu, LC_FALLBACK_NONE, {}, 0, by_cpu());
  generator.add_device({}, of_lone, true);
  EXPECT_FALSE(generator.has_device_for_one());
  device::Found shared;
  shared.properties.single_thread_subgroups = false;
  generator.add_device(shared, of_shared, true);
  EXPECT_TRUE(generator.has_device_for_one());
  EXPECT_FALSE(generator.is_open_for_one());
  Taken taken;
  lc_result result = {};
  RsaGeneration one = two_keys(&taken, LC_ANY_DEVICE);
  one.count = 1;
  ASSERT_TRUE(generator.run(std::move(one), &result).ok());
  EXPECT_GT(of_shared.operations, 0u);
  EXPECT_EQ(0u, of_lone.operations);
  EXPECT_TRUE(generator.is_open_for_one());
  taken.primes.clear();
  ASSERT_TRUE(generator.run(two_keys(&taken, LC_ANY_DEVICE), &result).ok());
  EXPECT_GT(of_lone.operations, 0u);
  EXPECT_EQ(0u, of_cpu.operations);
}

}  // namespace
}  // namespace lanecrypt::runtime
