// Invalid keys and random generators that fail: only their own operations end with an error, and
// the device continues with all others. Runs on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "cpu/random.h"
#include "cpu/rsa/cpu_rsa.h"
#include "placement/dispatcher.h"
#include "unit/support/devices.h"
#include "unit/support/hostile_rsa_keys.h"

namespace lanecrypt::test {
namespace {

// A random generator that fails at will. It counts calls on threads other than the one that created
// it.
struct Moody {
  std::atomic<int> calls{0}, fails_at{-1}, strange_calls{0};
  std::atomic<bool> always_fails{false};
  const std::thread::id maker = std::this_thread::get_id();
  static int give(void *argument, void *to, size_t bytes) {
    Moody &self = *static_cast<Moody *>(argument);
    if (std::this_thread::get_id() != self.maker) ++self.strange_calls;
    if (self.calls++ == self.fails_at || self.always_fails) return 0;
    return cpu::random_bytes(to, bytes).ok() ? 1 : 0;
  }
};

class HostileRsa : public testing::Test {
 protected:
  struct Asked {
    runtime::RsaRequestPointer request;
    Status submitted;
    std::vector<Bytes> outputs, expected;
    Status outcome() { return submitted.ok() ? request->wait() : submitted; }
  };

  HostileRsa() { open("host"); }
  void open(const char *devices) {
    runtime::DispatcherOptions options;
    options.devices = devices;
    options.fallback = LC_FALLBACK_CPU;
    dispatcher_ = std::make_unique<runtime::Dispatcher>(options);
  }
  static RsaKeyPointer make_key(const TestKey &numbers, Moody *random = nullptr) {
    lc_rsa_parts parts = numbers.parts();
    if (random != nullptr) {
      parts.random = Moody::give;
      parts.argument = random;
    }
    Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(&parts);
    EXPECT_TRUE(key.ok() && cpu::prepare(**key).ok()) << "the numbers belong together";
    return *key;
  }
  // Submits one job of `count` operations that use the keys in turn. Their inputs are small.
  std::unique_ptr<Asked> ask(const std::vector<RsaKeyPointer> &keys,
                             const std::vector<const TestKey *> &numbers, size_t count,
                             uint32_t device = LC_ANY_DEVICE) {
    auto asked = std::make_unique<Asked>();
    RsaJob job;
    job.device = device;
    job.operation = LC_RSA_PRIVATE;
    job.keys = keys;
    asked->outputs.reserve(count);
    for (size_t n = 0; n < count; ++n) {
      const size_t key = n % keys.size();
      Bytes in(keys[key]->modulus_bytes);
      in.back() = uint8_t(n + 2);
      in[in.size() - 20] = uint8_t(n + 1);
      asked->expected.push_back(numbers[key]->power(in, numbers[key]->secret.get()));
      asked->outputs.push_back(std::move(in));
      job.messages.push_back(
          {uint32_t(key), asked->outputs.back().data(), asked->outputs.back().data()});
    }
    asked->request = std::make_shared<runtime::RsaRequest>(std::move(job), nullptr);
    asked->submitted = dispatcher_->submit(asked->request);
    return asked;
  }
  std::unique_ptr<Asked> ask_one(const RsaKeyPointer &key, const TestKey &numbers) {
    return ask({key}, {&numbers}, 1);
  }
  void expect_right_on_device(Asked &asked) {
    const Status status = asked.outcome();
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(asked.expected, asked.outputs);
    EXPECT_EQ(asked.outputs.size(), asked.request->result.device_operations);
  }
  void expect_device_is_well() {
    expect_right_on_device(*ask_one(good_key_, good_));
    EXPECT_EQ(LC_DEVICE_READY, dispatcher_->service(0, device::KernelSet::kRsa).state);
    EXPECT_EQ(0u, dispatcher_->device(0)->counters().failures);
  }

  const TestKey &good_ = key_of_bits(1024);
  const RsaKeyPointer good_key_ = make_key(good_);
  std::unique_ptr<runtime::Dispatcher> dispatcher_;
};

TEST_F(HostileRsa, KeysOfSmallFactorsLoseNoDevice) {
  size_t refused = 0;
  for (unsigned variant = 0; variant < 40; ++variant) {
    const TestKey numbers = key_of_small_factors(variant);
    ASSERT_GE(BN_num_bits(numbers.modulus.get()), 1024);
    const RsaKeyPointer key = make_key(numbers);
    // Operations with the good key come before and after it, for the same batch.
    std::vector<std::unique_ptr<Asked>> others;
    others.push_back(ask_one(good_key_, good_));
    others.push_back(ask_one(good_key_, good_));
    const auto hostile = ask_one(key, numbers);
    others.push_back(ask_one(good_key_, good_));
    const Status status = hostile->outcome();
    if (!status.ok()) {
      ++refused;
      EXPECT_EQ(LC_ERROR_ARGUMENT, status.code()) << status.text();
      EXPECT_TRUE(status.text().starts_with("the RSA key ")) << status.text();
    }
    for (const auto &other : others) expect_right_on_device(*other);
  }
  EXPECT_GT(refused, 30u);
  expect_device_is_well();
}

// One job has good keys and a hostile one. The job as a whole fails, and the results of the good
// keys are there.
TEST_F(HostileRsa, AMixedJobIsDoneButForTheHostileKey) {
  const TestKey numbers = key_with_composite(1024);
  const auto asked = ask({good_key_, make_key(numbers)}, {&good_, &numbers}, 20);
  EXPECT_EQ(LC_ERROR_ARGUMENT, asked->outcome().code());
  for (size_t n = 0; n < 20; n += 2) EXPECT_EQ(asked->expected[n], asked->outputs[n]) << n;
  expect_device_is_well();
}

TEST_F(HostileRsa, ACompositePrimeIsTheKeysFault) {
  const TestKey numbers = key_with_composite(1024);
  const RsaKeyPointer key = make_key(numbers);
  for (int n = 0; n < 3; ++n) {
    const auto asked = ask_one(key, numbers);
    const Bytes untouched = asked->outputs[0];
    const Status status = asked->outcome();
    EXPECT_EQ(LC_ERROR_ARGUMENT, status.code());
    EXPECT_NE(std::string::npos, status.text().find("at fault")) << status.text();
    EXPECT_EQ(untouched, asked->outputs[0]) << "no wrong result is written";
    EXPECT_TRUE(key->is_at_fault);
  }
  expect_device_is_well();
}

// The CPU's result is right here because it uses d. The device's result is wrong.
TEST_F(HostileRsa, AKeyThatTheCpuCanUseIsTheKeysFaultToo) {
  const TestKey numbers = key_that_only_d_serves();
  const RsaKeyPointer key = make_key(numbers);
  EXPECT_EQ(LC_ERROR_ARGUMENT, ask_one(key, numbers)->outcome().code());
  expect_device_is_well();
}

// One round of the Miller-Rabin test proves nothing about this key: every second result is wrong,
// and the CPU's result is right because it uses d.
TEST_F(HostileRsa, AKeyThatOftenPassesIsTheKeysFaultToo) {
  const TestKey numbers = key_that_often_passes();
  size_t refused = 0;
  for (int n = 0; n < 60; ++n) {
    const auto asked = ask_one(make_key(numbers), numbers);
    const Status status = asked->outcome();
    if (status.ok()) {
      EXPECT_EQ(1u, asked->request->result.device_operations);
      continue;
    }
    ++refused;
    EXPECT_EQ(LC_ERROR_ARGUMENT, status.code()) << status.text();
  }
  EXPECT_GT(refused, 5u);
  expect_device_is_well();
}

// With such a key the CPU's result is as wrong as a device's.
TEST_F(HostileRsa, TheCpuGivesNoWrongResult) {
  const auto expect_refused = [&](const TestKey &numbers, uint32_t device) {
    const RsaKeyPointer key = make_key(numbers);
    for (int n = 0; n < 2; ++n) {
      const auto asked = ask({key}, {&numbers}, 1, device);
      const Bytes untouched = asked->outputs[0];
      const Status status = asked->outcome();
      EXPECT_EQ(LC_ERROR_ARGUMENT, status.code());
      EXPECT_NE(std::string::npos, status.text().find("at fault")) << status.text();
      EXPECT_EQ(untouched, asked->outputs[0]);
      EXPECT_TRUE(key->is_at_fault);
    }
  };
  const TestKey numbers = key_with_composite(1024);
  expect_refused(numbers, LC_CPU);
  // No device takes these keys: an e of more than 64 bits, and a modulus that is too short.
  for (const auto &[bits, exponent_bits] : {std::pair(1024, 81), {3200, 81}, {512, 17}})
    expect_refused(key_with_composite(bits, exponent_bits), LC_ANY_DEVICE);
  expect_device_is_well();
  open("none");
  expect_refused(numbers, LC_ANY_DEVICE);
}

TEST_F(HostileRsa, TheCpuServesLongExponents) {
  for (const int bits : {1024, 3200}) {
    const Bn exponent = bn();
    BN_set_bit(exponent.get(), 80);
    BN_set_bit(exponent.get(), 0);
    const TestKey numbers = key_of_unequal_primes(bits / 2, bits / 2 - 1, exponent);
    const auto asked = ask_one(make_key(numbers), numbers);
    const Status status = asked->outcome();
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(asked->expected, asked->outputs);
    EXPECT_EQ(1u, asked->request->result.cpu_operations);
  }
}

TEST_F(HostileRsa, UnequalPrimesAreServed) {
  for (const int shorter : {160, 300}) {
    const TestKey numbers = key_of_unequal_primes(1024, shorter);
    expect_right_on_device(*ask_one(make_key(numbers), numbers));
  }
  expect_device_is_well();
}

// One failure, wherever it occurs, ends at most one operation.
TEST_F(HostileRsa, ARandomFunctionThatFailsOnce) {
  int failed_in_all = 0;
  for (int fails_at = 0; fails_at < 12; ++fails_at) {
    Moody random;
    random.fails_at = fails_at;
    const RsaKeyPointer key = make_key(good_, &random);
    int failed = 0;
    for (int n = 0; n < 8; ++n) {
      const auto asked = ask_one(key, good_);
      const Status status = asked->outcome();
      if (status.ok()) {
        EXPECT_EQ(asked->expected, asked->outputs);
        EXPECT_EQ(1u, asked->request->result.device_operations);
        continue;
      }
      ++failed;
      EXPECT_NE(std::string::npos, status.text().find("random generator")) << status.text();
    }
    EXPECT_EQ(random.calls > fails_at ? 1 : 0, failed) << fails_at;
    failed_in_all += failed;
  }
  EXPECT_GT(failed_in_all, 4);
  expect_device_is_well();
}

TEST_F(HostileRsa, ARandomFunctionThatAlwaysFails) {
  Moody random;
  const RsaKeyPointer key = make_key(good_, &random);
  expect_right_on_device(*ask_one(key, good_));
  random.always_fails = true;
  for (int n = 0; n < 40; ++n) {
    const auto bad = ask_one(key, good_), other = ask_one(good_key_, good_);
    EXPECT_EQ(LC_ERROR_INTERNAL, bad->outcome().code());
    expect_right_on_device(*other);
  }
  random.always_fails = false;
  expect_right_on_device(*ask_one(key, good_));
  expect_device_is_well();
}

// The random function's argument may be freed as soon as the job is submitted.
TEST_F(HostileRsa, ARandomFunctionIsCalledByItsCallerAlone) {
  Moody one, other;
  const RsaKeyPointer key = make_key(good_, &one), with_other = make_key(good_, &other);
  std::vector<std::unique_ptr<Asked>> all;
  // So many that bases, tables and images of several forms are made.
  for (int n = 0; n < 80; ++n) all.push_back(ask_one(key, good_));
  for (const size_t count : {3, 20, 60}) {
    all.push_back(ask({key}, {&good_}, count));
    all.push_back(ask({key, with_other, good_key_}, {&good_, &good_, &good_}, count));
  }
  one.always_fails = other.always_fails = true;
  for (const auto &asked : all) expect_right_on_device(*asked);
  EXPECT_EQ(86, one.calls);
  EXPECT_EQ(3, other.calls);
  EXPECT_EQ(0, one.strange_calls + other.strange_calls);
}

// A generator that returns the same numbers over and over.
TEST_F(HostileRsa, ARandomFunctionThatIsNone) {
  lc_rsa_parts parts = good_.parts();
  parts.random = [](void *, void *to, size_t bytes) {
    memset(to, 0, bytes);
    return 1;
  };
  Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(&parts);
  ASSERT_TRUE(key.ok() && cpu::prepare(**key).ok());
  EXPECT_EQ(LC_ERROR_INTERNAL, ask_one(*key, good_)->outcome().code());
  expect_device_is_well();
}

// Key generation: whatever the caller's generator returns, the device is not blamed.
TEST_F(HostileRsa, NewKeysOfAGeneratorThatFailsOrIsNone) {
  struct Never {
    static int key(void *, uint64_t, const lc_rsa_parts *) { return 1; }
    static int fails(void *, void *, size_t) { return 0; }
    static int zeros(void *, void *to, size_t bytes) {
      memset(to, 0, bytes);
      return 1;
    }
    static int ones(void *, void *to, size_t bytes) {
      memset(to, 0xff, bytes);
      return 1;
    }
    // The same odd numbers again and again, none of which is prime.
    static int repeats(void *, void *to, size_t bytes) {
      for (size_t n = 0; n < bytes; ++n) static_cast<uint8_t *>(to)[n] = uint8_t(0xc0 | n % 7);
      return 1;
    }
  };
  for (const auto random : {Never::fails, Never::zeros, Never::ones, Never::repeats})
    for (int n = 0; n < 20; ++n) {
      RsaGeneration what;
      what.bits = 1024;
      what.exponent = {1, 0, 1};
      what.count = 1;
      what.device = 0;
      what.on_key = Never::key;
      what.random = random;
      lc_result result = {};
      const Status status = dispatcher_->generate(std::move(what), &result);
      EXPECT_FALSE(status.ok());
      EXPECT_NE(std::string::npos, status.text().find("random generator")) << status.text();
      if (random != Never::fails) break;
    }
  RsaGeneration what;
  what.bits = 1024;
  what.exponent = {1, 0, 1};
  what.count = 1;
  what.device = 0;
  what.on_key = Never::key;
  lc_result result = {};
  EXPECT_TRUE(dispatcher_->generate(std::move(what), &result).ok());
  EXPECT_GT(result.device_operations, 0u);
  EXPECT_EQ(0u, result.cpu_operations);
  expect_device_is_well();
}

}  // namespace
}  // namespace lanecrypt::test
