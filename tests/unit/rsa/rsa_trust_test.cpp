// RSA on devices that fail in every way, at every stage, at random, on the emulator and on GPUs.
// The caller gets the right result, from the CPU if need be, and no caller waits forever.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "cpu/rsa/cpu_rsa.h"
#include "placement/dispatcher.h"
#include "unit/support/devices.h"
#include "unit/support/faulty_device.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

using namespace std::chrono_literals;
using runtime::DeviceService;
using runtime::Dispatcher;
using runtime::DispatcherOptions;
using runtime::RsaRequest;
using runtime::RsaRequestPointer;

constexpr std::chrono::milliseconds kTimeLimit = 300ms;

// The operations of one request, in place, and their right results.
class Question {
 public:
  Question(lc_rsa_operation operation, const std::vector<RsaKeyPointer> &keys,
           const std::vector<const TestKey *> &numbers, size_t count, Random &random) {
    RsaJob job;
    job.operation = operation;
    job.keys = keys;
    data_.reserve(count);
    for (size_t n = 0; n < count; ++n) {
      const uint32_t key = uint32_t(random.below(keys.size()));
      Bytes in(keys[key]->modulus_bytes);
      random.fill(in.data(), in.size());
      in[0] = 0;
      const TestKey &of = *numbers[key];
      expected_.push_back(
          of.power(in, operation == LC_RSA_PRIVATE ? of.secret.get() : of.exponent.get()));
      data_.push_back(std::move(in));
      job.messages.push_back({key, data_.back().data(), data_.back().data()});
    }
    request_ = std::make_shared<RsaRequest>(std::move(job), nullptr);
  }
  void submit(Dispatcher &dispatcher) {
    const Status status = dispatcher.submit(request_);
    ASSERT_TRUE(status.ok()) << status.text();
  }
  Status wait() { return request_->wait(); }
  bool is_right() const { return expected_ == data_; }
  void expect_right() {
    const Status status = wait();
    ASSERT_TRUE(status.ok()) << status.text();
    ASSERT_TRUE(is_right());
    EXPECT_EQ(expected_.size(),
              request_->result.device_operations + request_->result.cpu_operations);
  }
  const lc_result &result() const { return request_->result; }

 private:
  std::vector<Bytes> expected_, data_;
  RsaRequestPointer request_;
};

class RsaTrustTest : public testing::Test {
 protected:
  RsaTrustTest() {
    for (const TestKey *numbers : numbers_) {
      const lc_rsa_parts parts = numbers->parts();
      Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(&parts);
      EXPECT_TRUE(key.ok() && cpu::prepare(**key).ok());
      keys_.push_back(*key);
    }
  }
  void open(const std::string &fault, lc_verify verify = LC_VERIFY_SAMPLED,
            lc_fallback fallback = LC_FALLBACK_CPU, bool has_self_test = false) {
    dispatcher_.reset();
    fault_.reset();  // restores the old value
    DispatcherOptions options;
    set_device(options, fault);
    options.fallback = fallback;
    options.pipeline.verify = verify;
    // A device that only waits for its turn on a busy machine is not stuck, so the time limit is
    // short only for faults that make it stuck.
    const bool may_be_stuck = fault.find("stuck") != std::string::npos;
    options.pipeline.time_limit = may_be_stuck ? kTimeLimit : 120s;
    options.pipeline.skip_self_test = !has_self_test;
    dispatcher_ = std::make_unique<Dispatcher>(options);
  }
  // The default is the emulator, which simulates faults itself.
  virtual void set_device(DispatcherOptions &options, const std::string &fault) {
    options.devices = "host";
    fault_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_FAULT", fault.c_str());
  }
  std::unique_ptr<Question> ask(size_t count, lc_rsa_operation operation = LC_RSA_PRIVATE) {
    auto question = std::make_unique<Question>(operation, keys_, numbers_, count, random_);
    question->submit(*dispatcher_);
    return question;
  }
  DeviceService service() const { return dispatcher_->service(0, device::KernelSet::kRsa); }
  // Whether the device is lost in the end. After a wrong result the device's thread runs the
  // self-test again, and no caller waits for that.
  bool gets_lost() const {
    for (int look = 0; look < 6000 && service().state != LC_DEVICE_LOST; ++look)
      std::this_thread::sleep_for(10ms);
    return service().state == LC_DEVICE_LOST;
  }
  uint64_t failures() const { return dispatcher_->device(0)->counters().failures; }
  void try_random_faults(uint64_t schedules, bool may_be_stuck);

  // Both keys are of one class, so that they share batches.
  const std::vector<const TestKey *> numbers_ = {&key_of_bits(1024), &key_of_bits(1026)};
  std::vector<RsaKeyPointer> keys_;
  std::unique_ptr<ScopedEnvironment> fault_;
  std::unique_ptr<Dispatcher> dispatcher_;
  Random random_{62};
};

// In each run something fails one step later, until nothing fails. The results overwrite the
// inputs, which must be intact if the CPU or another device takes over.
TEST_F(RsaTrustTest, EveryFaultAtEveryStage) {
  const struct {
    const char *kind;
    uint64_t least;  // the least number of stages that must show the fault
  } kinds[] = {{"lost-upload", 5}, {"lost-after", 3},    {"lost-download", 1}, {"fail-launch", 3},
               {"drop-kernel", 3}, {"drop-download", 1}, {"wrong-byte", 1}};
  for (const auto &[kind, least] : kinds)
    for (const lc_rsa_operation operation : {LC_RSA_PRIVATE, LC_RSA_PUBLIC}) {
      uint64_t n = 0;
      for (bool struck = true; struck && n < 20; ++n) {
        const std::string fault = kind + (":" + std::to_string(n));
        SCOPED_TRACE(fault + (operation == LC_RSA_PRIVATE ? ", private" : ", public"));
        open(fault);
        const auto question = ask(3, operation);
        question->expect_right();
        struck = question->result().cpu_operations != 0;
        if (!struck) continue;
        ASSERT_GE(failures(), 1u);
        // If one check fails, that result is computed again, and the device stays in service.
        if (question->result().failed_checks != 0) continue;
        EXPECT_EQ(LC_DEVICE_LOST, service().state);
        EXPECT_TRUE(service().reason.starts_with("host:0: RSA: ")) << service().reason;
        // The lost device is not used any more.
        const auto next = ask(1, operation);
        next->expect_right();
        EXPECT_EQ(0u, next->result().device_operations);
      }
      EXPECT_LT(n, 20u) << kind << " strikes for ever";
      EXPECT_GT(n, operation == LC_RSA_PRIVATE ? least : 1) << kind;
    }
}

// The device goes wrong during its service, after right results. Its self-test then runs again,
// fails, and ends its service.
TEST_F(RsaTrustTest, AWrongByteAfterRightResults) {
  open("flip-bit:9+", LC_VERIFY_SAMPLED, LC_FALLBACK_CPU, true);
  uint64_t on_device = 0;
  for (int n = 0; n < 12; ++n) {
    const auto question = ask(1);
    question->expect_right();
    on_device += question->result().device_operations;
  }
  // Each operation took one download.
  EXPECT_EQ(9u, on_device);
  EXPECT_TRUE(gets_lost());
  EXPECT_NE(std::string::npos, service().reason.find("wrong output")) << service().reason;
}

// A launch reuses the memory of the one before, with its results and verdicts. If a kernel or a
// copy silently does not run, these must not be taken for new ones, even if they were not cleared.
TEST_F(RsaTrustTest, NoResultOfALaunchBeforeIsTaken) {
  const struct {
    lc_rsa_operation operation;
    std::vector<const char *> faults;  // they strike in the second batch
  } trials[] = {
      {LC_RSA_PRIVATE, {"drop-kernel:3", "drop-kernel:4", "drop-kernel:5", "drop-download:1"}},
      {LC_RSA_PUBLIC, {"drop-kernel:1", "drop-download:1"}},
  };
  for (const auto &[operation, faults] : trials)
    for (const std::string fault : faults)
      for (const char *beside : {"", ",drop-zero:0+"})
        for (const lc_verify verify : {LC_VERIFY_OFF, LC_VERIFY_SAMPLED, LC_VERIFY_FULL}) {
          SCOPED_TRACE(fault + beside + (operation == LC_RSA_PRIVATE ? ", private" : ", public"));
          open(fault + beside, verify);
          const auto before = ask(2, operation);
          before->expect_right();
          EXPECT_EQ(2u, before->result().device_operations);
          const auto question = ask(2, operation);
          question->expect_right();
          // The verdicts showed it. A failed check by the CPU would have ended the device's
          // service.
          EXPECT_EQ(2u, question->result().failed_checks);
          EXPECT_EQ(LC_DEVICE_READY, service().state) << service().reason;
          ask(1, operation)->expect_right();
        }
}

// A result that the device verified is changed on its way to the host.
TEST_F(RsaTrustTest, WhatIsLookedAtBesidesTheVerdict) {
  // The CPU checks one result of each batch, whatever `verify` says.
  for (const lc_verify verify : {LC_VERIFY_OFF, LC_VERIFY_SAMPLED, LC_VERIFY_FULL}) {
    open("flip-bit:1", verify);
    ask(1)->expect_right();
    const auto question = ask(1);
    question->expect_right();
    EXPECT_EQ(1u, question->result().failed_checks) << verify;
    EXPECT_EQ(1u, failures()) << verify;
  }
  // With LC_VERIFY_FULL it checks all of them.
  for (int n = 0; n < 3; ++n) {
    open("flip-bit:1", LC_VERIFY_FULL);
    ask(1)->expect_right();
    const auto question = ask(64);
    question->expect_right();
    EXPECT_EQ(1u, question->result().failed_checks);
  }
  // Otherwise one wrong result among many is missed, except in one batch of 64.
  for (const lc_verify verify : {LC_VERIFY_OFF, LC_VERIFY_SAMPLED}) {
    bool passed = false;
    for (int n = 0; n < 8 && !passed; ++n) {
      open("flip-bit:1", verify);
      ask(1)->expect_right();
      const auto question = ask(64);
      EXPECT_TRUE(question->wait().ok());
      passed = !question->is_right();
    }
    EXPECT_TRUE(passed) << verify;
  }
}

// A device with a single flipped bit stays in service, because it passes its self-test. A device
// that keeps flipping bits fails it. Only one failure is counted, whatever is pending.
TEST_F(RsaTrustTest, TheSelfTestSaysWhetherADeviceStays) {
  for (const bool goes_on : {false, true}) {
    open(goes_on ? "flip-bit:1+" : "flip-bit:1", LC_VERIFY_SAMPLED, LC_FALLBACK_CPU, true);
    for (int n = 0; n < 3; ++n) ask(1)->expect_right();
    EXPECT_GE(failures(), 1u);
    if (goes_on) {
      EXPECT_TRUE(gets_lost());
      EXPECT_NE(std::string::npos, service().reason.find("self-test")) << service().reason;
      continue;
    }
    const auto question = ask(8);
    question->expect_right();
    EXPECT_EQ(8u, question->result().device_operations);
    EXPECT_EQ(LC_DEVICE_READY, service().state) << service().reason;
    EXPECT_EQ(1u, failures());
  }
}

// A device that lacks memory stays in service, and the CPU does what the device cannot.
TEST_F(RsaTrustTest, WantOfMemoryPasses) {
  for (int n = 0; n < 14; ++n) {
    open("no-memory:" + std::to_string(n));
    ask(3)->expect_right();
    const auto next = ask(3);
    next->expect_right();
    EXPECT_EQ(3u, next->result().device_operations) << n;
    EXPECT_EQ(LC_DEVICE_READY, service().state) << n;
  }
  open("no-memory:0+", LC_VERIFY_SAMPLED, LC_FALLBACK_NONE);
  Question question(LC_RSA_PRIVATE, keys_, numbers_, 2, random_);
  question.submit(*dispatcher_);
  EXPECT_EQ(LC_ERROR_MEMORY, question.wait().code());
}

// Whichever kernel does not end, no caller waits for it forever.
TEST_F(RsaTrustTest, AStuckDeviceIsGivenUp) {
  for (const int kernel : {0, 1, 2, 4}) {
    open("stuck:" + std::to_string(kernel));
    std::vector<std::unique_ptr<Question>> questions;
    for (int n = 0; n < 4; ++n) questions.push_back(ask(2));
    for (const auto &question : questions) question->expect_right();
    // They may all have been in one batch, which takes fewer kernels.
    for (int n = 0; n < 4 && service().state != LC_DEVICE_LOST; ++n) ask(2)->expect_right();
    EXPECT_EQ(LC_DEVICE_LOST, service().state);
    EXPECT_NE(std::string::npos, service().reason.find("stuck")) << service().reason;
    EXPECT_EQ(1u, failures()) << "counted once";
    ask(1)->expect_right();
  }
  open("stuck:1", LC_VERIFY_SAMPLED, LC_FALLBACK_NONE);
  Question question(LC_RSA_PRIVATE, keys_, numbers_, 2, random_);
  question.submit(*dispatcher_);
  EXPECT_EQ(LC_ERROR_DEVICE, question.wait().code());
}

// Generated keys are right, however the searching device fails.
TEST_F(RsaTrustTest, KeysWhateverFails) {
  struct Taken {
    size_t keys = 0;
    static int key(void *argument, uint64_t, const lc_rsa_parts *parts) {
      ++static_cast<Taken *>(argument)->keys;
      for (const lc_number &prime : {parts->p, parts->q}) {
        const Bn number =
            bn(BN_bin2bn(static_cast<const uint8_t *>(prime.bytes), int(prime.length), nullptr));
        EXPECT_TRUE(is_prime(number.get()));
      }
      return 1;
    }
  };
  for (const char *fault :
       {"lost-after:1", "lost-upload:3", "lost-download:0", "fail-launch:1", "no-memory:3",
        "wrong-byte:0", "stuck:0", "stuck:1", "lost-after:0,no-memory:1"}) {
    SCOPED_TRACE(fault);
    open(fault);
    Taken taken;
    RsaGeneration what;
    what.bits = 1024;
    what.exponent = {1, 0, 1};
    what.count = 1;
    what.device = 0;
    what.on_key = Taken::key;
    what.argument = &taken;
    lc_result result = {};
    const Status status = dispatcher_->generate(std::move(what), &result);
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(1u, taken.keys);
    const std::string text = fault;
    if (text.starts_with("wrong-byte") || text.find("no-memory") != std::string::npos) continue;
    EXPECT_EQ(LC_DEVICE_LOST, service().state);
    EXPECT_EQ(text.starts_with("stuck"), service().reason.find("stuck") != std::string::npos)
        << service().reason;
    EXPECT_GT(result.cpu_operations, 0u);
  }
}

// Tries random faults, several at once, while several requests are pending.
void RsaTrustTest::try_random_faults(uint64_t schedules, bool may_be_stuck) {
  static const char *const kKinds[] = {"lost-after",  "lost-upload", "lost-download", "fail-launch",
                                       "drop-kernel", "drop-zero",   "drop-download", "no-memory",
                                       "wrong-byte",  "flip-bit"};
  uint64_t lost = 0, on_device = 0;
  for (uint64_t n = 0; n < schedules; ++n) {
    std::string faults =
        may_be_stuck && n % 50 == 7 ? "stuck:" + std::to_string(random_.below(12)) : "";
    bool needs_full = false;
    for (uint64_t count = 1 + random_.below(3); count > 0; --count) {
      const std::string kind = kKinds[random_.below(std::size(kKinds))];
      needs_full = needs_full || kind == "flip-bit" || kind == "wrong-byte";
      faults += (faults.empty() ? "" : ",") + kind + ":" + std::to_string(random_.below(16)) +
                (random_.below(4) == 0 ? "+" : "");
    }
    SCOPED_TRACE(std::to_string(n) + ": " + faults);
    open(faults, needs_full ? LC_VERIFY_FULL : LC_VERIFY_SAMPLED);
    std::vector<std::unique_ptr<Question>> questions;
    for (uint64_t requests = 1 + random_.below(4); requests > 0; --requests)
      questions.push_back(
          ask(1 + random_.below(4), random_.below(4) == 0 ? LC_RSA_PUBLIC : LC_RSA_PRIVATE));
    for (const auto &question : questions) {
      ASSERT_NO_FATAL_FAILURE(question->expect_right());
      on_device += question->result().device_operations;
    }
    lost += service().state == LC_DEVICE_LOST;
  }
  EXPECT_GT(lost, schedules / 8);
  EXPECT_LT(lost, schedules);
  EXPECT_GT(on_device, schedules / 4);
}

TEST_F(RsaTrustTest, RandomFaults) { try_random_faults(scaled(1000), true); }

// On GPUs a wrapper around the device simulates the faults.
class RsaTrustOnGpu : public RsaTrustTest, public testing::WithParamInterface<DeviceCase> {
 protected:
  void SetUp() override {
    const DeviceCase &device = GetParam();
    if (device.absent) GTEST_SKIP() << "needs a GPU: none was found";
    found_ = find_device(device.id);
    // While the device is open, opening it again is faster, and its kernels are compiled.
    open("", LC_VERIFY_SAMPLED);
    for (const lc_rsa_operation operation : {LC_RSA_PRIVATE, LC_RSA_PUBLIC})
      ask(4, operation)->expect_right();
    keeper_ = std::move(dispatcher_);
  }
  void set_device(DispatcherOptions &options, const std::string &fault) override {
    options.devices = GetParam().id;
    options.find = [this, fault] {
      return device::DeviceEnumeration{{with_faults(found_, fault)}, {}};
    };
  }

  device::Found found_;
  std::unique_ptr<Dispatcher> keeper_;
};

TEST_P(RsaTrustOnGpu, RandomFaults) { try_random_faults(scaled(125), false); }

std::vector<DeviceCase> gpus_with_rsa() {
  std::vector<DeviceCase> gpus = devices_under_test();
  std::erase_if(gpus, [](const DeviceCase &device) { return !device.is_gpu || device.is_gl(); });
  return gpus;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RsaTrustOnGpu);
INSTANTIATE_TEST_SUITE_P(Devices, RsaTrustOnGpu, testing::ValuesIn(gpus_with_rsa()),
                         device_case_name);

}  // namespace
}  // namespace lanecrypt::test
