// ML-DSA on devices that fail in every way, at every stage, on the emulator. The caller gets the
// right result, from the CPU if need be, and no caller waits forever.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "ml_dsa/ml_dsa_request.h"
#include "placement/dispatcher.h"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

using namespace std::chrono_literals;
using runtime::DeviceService;
using runtime::Dispatcher;
using runtime::DispatcherOptions;
using runtime::MlDsaRequest;
using runtime::MlDsaRequestPointer;

const MlDsaSizes &kSizes = kMlDsaSizes[0];

// Deterministic signatures, verifications of which every other must fail, or new keys, with the
// expected results.
class Question {
 public:
  Question(lc_ml_dsa_operation operation, const std::vector<MlDsaKeyPointer> &keys, size_t count)
      : verdicts_(count, 0xa5), expected_verdicts_(count) {
    MlDsaJob job;
    job.operation = operation;
    job.encoding = LC_MESSAGE_MU;
    job.sizes = &kSizes;
    job.is_deterministic = true;
    job.keys = keys;
    const size_t key_bytes = kSizes.public_bytes + kSizes.private_bytes;
    outputs_.assign(count,
                    Bytes(operation == LC_ML_DSA_GENERATE ? key_bytes : kSizes.signature_bytes));
    for (size_t n = 0; n < count; ++n) {
      texts_.push_back(Bytes(64, uint8_t(n)));
      seeds_.push_back(Bytes(32, uint8_t(n + 100)));
    }
    for (size_t n = 0; n < count; ++n) {
      MlDsaMessage message;
      message.key = uint32_t(n % keys.size());
      message.message = texts_[n];
      message.signature = outputs_[n].data();
      const MlDsaKey &key = *keys[message.key];
      Bytes right = outputs_[n];
      if (operation == LC_ML_DSA_GENERATE) {
        message.random = seeds_[n].data();
        message.public_key = outputs_[n].data();
        message.private_key = &outputs_[n][kSizes.public_bytes];
        auto made = cpu::make_ml_dsa_key({.sizes = &kSizes,
                                          .seed = seeds_[n],
                                          .private_key = {},
                                          .public_key = {},
                                          .random = {}});
        right.assign((*made)->whole().begin(), (*made)->whole().end());
      } else {
        EXPECT_TRUE(cpu::ml_dsa_sign(key, texts_[n], Bytes(32), right).ok());
      }
      if (operation == LC_ML_DSA_VERIFY) {
        right[n % right.size()] ^= uint8_t(n % 2);
        outputs_[n] = right;
        expected_verdicts_[n] = n % 2 == 0 ? 1 : 0;
      }
      expected_.push_back(std::move(right));
      job.messages.push_back(message);
    }
    if (operation == LC_ML_DSA_VERIFY)
      job.verdicts = verdicts_.data();
    else
      verdicts_ = expected_verdicts_;
    Result<MlDsaRequestPointer> made = MlDsaRequest::make(std::move(job), nullptr);
    EXPECT_TRUE(made.ok());
    request_ = *made;
  }
  void submit(Dispatcher &dispatcher) {
    const Status status = dispatcher.submit(request_);
    ASSERT_TRUE(status.ok()) << status.text();
  }
  Status wait() { return request_->wait(); }
  bool is_right() const { return expected_ == outputs_ && expected_verdicts_ == verdicts_; }
  void expect_right() {
    const Status status = wait();
    ASSERT_TRUE(status.ok()) << status.text();
    ASSERT_TRUE(is_right());
    EXPECT_EQ(expected_.size(),
              request_->result.device_operations + request_->result.cpu_operations);
  }
  const lc_result &result() const { return request_->result; }

 private:
  std::vector<Bytes> texts_, seeds_, outputs_, expected_;
  Bytes verdicts_, expected_verdicts_;
  MlDsaRequestPointer request_;
};

class MlDsaTrust : public testing::Test {
 protected:
  MlDsaTrust() {
    for (const uint8_t first : {1, 2}) {
      const Bytes seed(32, first);
      keys_.push_back(*cpu::make_ml_dsa_key(
          {.sizes = &kSizes, .seed = seed, .private_key = {}, .public_key = {}, .random = {}}));
    }
  }
  void open(const std::string &fault, lc_verify verify = LC_VERIFY_SAMPLED,
            lc_fallback fallback = LC_FALLBACK_CPU) {
    dispatcher_.reset();
    fault_.reset();  // restores the old value
    fault_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_FAULT", fault.c_str());
    DispatcherOptions options;
    options.devices = "host";
    options.fallback = fallback;
    options.pipeline.verify = verify;
    // A device that only waits for its turn on a busy machine is not stuck, so the time limit is
    // short only for faults that make it stuck.
    options.pipeline.time_limit = fault.find("stuck") != std::string::npos ? 300ms : 120s;
    options.pipeline.skip_self_test = true;
    dispatcher_ = std::make_unique<Dispatcher>(options);
  }
  std::unique_ptr<Question> ask(size_t count, lc_ml_dsa_operation operation = LC_ML_DSA_SIGN) {
    auto question = std::make_unique<Question>(operation, keys_, count);
    question->submit(*dispatcher_);
    return question;
  }
  DeviceService service() const { return dispatcher_->service(0, device::KernelSet::kMlDsa); }

  std::vector<MlDsaKeyPointer> keys_;
  std::unique_ptr<ScopedEnvironment> fault_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

constexpr lc_ml_dsa_operation kOperations[] = {LC_ML_DSA_SIGN, LC_ML_DSA_VERIFY,
                                               LC_ML_DSA_GENERATE};

// In each run something fails one step later, until nothing fails.
TEST_F(MlDsaTrust, EveryFaultAtEveryStage) {
  for (const char *kind : {"lost-upload", "lost-after", "lost-download", "fail-launch",
                           "drop-kernel", "drop-download", "wrong-byte"})
    for (const lc_ml_dsa_operation operation : kOperations) {
      uint64_t n = 0;
      for (bool struck = true; struck && n < 20; ++n) {
        const std::string fault = kind + (":" + std::to_string(n));
        SCOPED_TRACE(fault + ", operation " + std::to_string(operation));
        open(fault, LC_VERIFY_FULL);
        const auto question = ask(2, operation);
        question->expect_right();
        struck = question->result().cpu_operations != 0;
        // If one check fails, that result is computed again, and the device stays in service.
        if (!struck || question->result().failed_checks != 0) continue;
        EXPECT_EQ(LC_DEVICE_LOST, service().state);
        EXPECT_TRUE(service().reason.starts_with("host:0: ML-DSA: ")) << service().reason;
        const auto next = ask(1, operation);
        next->expect_right();
        EXPECT_EQ(0u, next->result().device_operations);
      }
      EXPECT_LT(n, 20u) << kind << " strikes for ever";
      EXPECT_GT(n, 1u) << kind;
    }
}

// A launch reuses the memory of the one before, with its results and verdicts.
TEST_F(MlDsaTrust, NoResultOfALaunchBeforeIsTaken) {
  const struct {
    lc_ml_dsa_operation operation;
    uint64_t kernels, downloads;  // per batch
  } trials[] = {{LC_ML_DSA_SIGN, 3, 2}, {LC_ML_DSA_VERIFY, 2, 1}};
  for (const auto &[operation, kernels, downloads] : trials) {
    std::vector<std::string> faults;
    // The first kernel is left out, because it expands the keys again.
    for (uint64_t n = kernels + 1; n < 2 * kernels; ++n)
      faults.push_back("drop-kernel:" + std::to_string(n));
    for (uint64_t n = downloads; n < 2 * downloads; ++n)
      faults.push_back("drop-download:" + std::to_string(n));
    for (const std::string &fault : faults) {
      // If the copy of the signatures does not run, the earlier ones are there. They are right,
      // because the texts are the same.
      if (fault == "drop-download:2") continue;
      for (const char *beside : {"", ",drop-zero:0+"}) {
        SCOPED_TRACE(fault + beside + ", operation " + std::to_string(operation));
        open(fault + beside, LC_VERIFY_OFF);
        ask(2, operation)->expect_right();
        const auto question = ask(2, operation);
        question->expect_right();
        EXPECT_TRUE(question->result().failed_checks == 2 || *beside != '\0') << fault;
        ask(1, operation)->expect_right();
      }
    }
  }
}

// A result that the device verified is changed on its way to the host.
TEST_F(MlDsaTrust, TheCpuLooksToo) {
  for (const lc_verify verify : {LC_VERIFY_OFF, LC_VERIFY_FULL}) {
    open("flip-bit:2", verify);
    ask(1)->expect_right();
    const auto question = ask(1);
    question->expect_right();
    EXPECT_EQ(1u, question->result().failed_checks) << verify;
  }
}

// A device that lacks memory stays in service, and the CPU does what the device cannot.
TEST_F(MlDsaTrust, WantOfMemoryPasses) {
  for (int n = 0; n < 8; ++n) {
    open("no-memory:" + std::to_string(n));
    ask(2)->expect_right();
    const auto next = ask(2);
    next->expect_right();
    EXPECT_EQ(2u, next->result().device_operations) << n;
    EXPECT_EQ(LC_DEVICE_READY, service().state) << n;
  }
  open("no-memory:0+", LC_VERIFY_SAMPLED, LC_FALLBACK_NONE);
  const auto question = ask(2);
  EXPECT_EQ(LC_ERROR_MEMORY, question->wait().code());
}

// Whichever kernel does not end, no caller waits for it forever.
TEST_F(MlDsaTrust, AStuckDeviceIsGivenUp) {
  for (const int kernel : {0, 1, 2}) {
    open("stuck:" + std::to_string(kernel));
    ask(2)->expect_right();
    EXPECT_EQ(LC_DEVICE_LOST, service().state);
    EXPECT_NE(std::string::npos, service().reason.find("stuck")) << service().reason;
    ask(1)->expect_right();
  }
}

}  // namespace
}  // namespace lanecrypt::test
