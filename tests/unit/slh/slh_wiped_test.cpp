// A batch of SLH-DSA leaves no key in device memory or in pinned host memory, however it ended. The
// tests use the emulator, whose device memory they can read.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "slh/slh_engine.h"
#include "slh/slh_request.h"
#include "unit/slh/slh_dsa_job.h"
#include "unit/support/faulty_device.h"
#include "unit/support/watched_device.h"

namespace lanecrypt::runtime {
namespace {

using test::SlhBytes;
using test::WatchedDevice;
using test::WatchedMemory;

// Throws std::bad_alloc at the launch of kernel number `n`.
class ThrowingStream : public test::ForwardingStream {
 public:
  ThrowingStream(std::unique_ptr<device::Stream> inner, int &left)
      : ForwardingStream(std::move(inner)), left_(left) {}
  Status launch(const device::Launch &launch) override {
    if (left_-- == 0) throw std::bad_alloc();
    return ForwardingStream::launch(launch);
  }

 private:
  int &left_;
};

class ThrowingDevice : public WatchedDevice {
 public:
  ThrowingDevice(std::unique_ptr<device::Device> inner, WatchedMemory &memory, int &left)
      : WatchedDevice(std::move(inner), memory), left_(left) {}
  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> made = inner().make_stream();
    if (!made.ok()) return made;
    return std::unique_ptr<device::Stream>(
        std::make_unique<ThrowingStream>(std::move(*made), left_));
  }

 private:
  int &left_;
};

class SlhWiped : public testing::TestWithParam<lc_slh_dsa_set> {
 protected:
  void open(const std::string &faults) {
    engine_.reset();
    memory_ = WatchedMemory();
    device::Found found =
        test::wrapped(test::with_faults(test::find_device("host:0"), faults), [this](auto inner) {
          return std::make_unique<ThrowingDevice>(std::move(inner), memory_, kernels_left_);
        });
    Result<std::unique_ptr<BatchEngine>> engine = make_slh_engine(found, {.skip_self_test = true});
    ASSERT_TRUE(engine.ok()) << engine.status().text();
    engine_ = std::move(*engine);
  }
  const SlhSet &set() const { return *find_slh_set(uint32_t(GetParam())); }
  // Returns SK.seed as bytes and as the words of the kernels, and the secret at the head of a chain
  // of the top layer that no signature of this message reveals.
  std::vector<SlhBytes> secrets() const {
    SlhBytes bytes(key_.begin(), key_.begin() + set().n), words = bytes;
    for (size_t at = 0; at < words.size(); at += 4)
      std::reverse(words.begin() + ptrdiff_t(at), words.begin() + ptrdiff_t(at) + 4);
    return {bytes, words};
  }
  std::shared_ptr<SlhRequest> request(lc_slh_dsa_operation operation) {
    const SlhBytes seeds = test::slh_seeds(GetParam(), 77);
    key_.assign(set().private_bytes(), 0);
    if (operation == LC_SLH_DSA_GENERATE) {
      std::copy(seeds.begin(), seeds.end(), key_.begin());
      const auto keys = std::make_shared<SlhKeys>(
          SlhGeneration{
              .set = &set(), .count = 1, .seeds = seeds.data(), .keys = key_.data(), .random = {}},
          nullptr);
      EXPECT_TRUE(keys->take_seeds().ok());
      return keys;
    }
    EXPECT_TRUE(cpu::slh_make_key(set(), seeds, key_).ok());
    const auto key = std::make_shared<SlhKey>(set(), key_, RandomSource{});
    EXPECT_TRUE(cpu::prepare(*key).ok());
    SlhJob job;
    job.keys = {key};
    signature_.assign(set().signature_bytes(), 0);
    job.messages.push_back(
        {.key = 0, .message = {}, .context = {}, .signature = signature_.data()});
    const auto made = std::make_shared<SlhSignatures>(job, nullptr);
    EXPECT_TRUE(made->hash(nullptr).ok());
    return made;
  }
  void expect_no_secrets() {
    for (const SlhBytes &secret : secrets()) EXPECT_FALSE(memory_.holds(secret));
  }
  // Runs an operation, and returns its final status.
  Status run(lc_slh_dsa_operation operation, bool *right) {
    const std::shared_ptr<SlhRequest> asked = request(operation);
    const BatchItem item{asked, 0};
    ItemResults results(1);
    const BatchEngine::Started started = engine_->start(asked->kind_of(0), {&item, 1}, results);
    if (!started.failure.ok()) return started.failure.status();
    // The pinned memory holds the key until the batch ends. This shows that the test can fail.
    EXPECT_TRUE(memory_.holds(secrets()[set().shake ? 0 : 1]));
    while (!started.batch->is_done()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    const Status status = started.batch->finish(results).status();
    *right = results.is_right(0);
    return status;
  }

  WatchedMemory memory_;
  int kernels_left_ = -1;  // until one throws; -1: none throws
  SlhBytes key_, signature_;
  std::unique_ptr<BatchEngine> engine_;
};

TEST_P(SlhWiped, AfterABatch) {
  for (const lc_slh_dsa_operation operation : {LC_SLH_DSA_SIGN, LC_SLH_DSA_GENERATE}) {
    open("");
    for (int batch = 0; batch < 2; ++batch) {
      bool right = false;
      const Status status = run(operation, &right);
      EXPECT_TRUE(status.ok()) << status.text();
      EXPECT_TRUE(right);
      expect_no_secrets();
    }
    engine_.reset();
    expect_no_secrets();
  }
}

// A launch or an allocation fails, or a result is wrong.
TEST_P(SlhWiped, AfterABatchThatFails) {
  for (const lc_slh_dsa_operation operation : {LC_SLH_DSA_SIGN, LC_SLH_DSA_GENERATE})
    for (const char *kind : {"fail-launch:", "no-memory:", "drop-kernel:", "flip-bit:"}) {
      bool struck = true;
      for (int n = 0; n < 20 && struck; ++n) {
        SCOPED_TRACE(kind + std::to_string(n));
        open(kind + std::to_string(n));
        bool right = true;
        const Status status = run(operation, &right);
        struck = !status.ok() || !right;
        expect_no_secrets();
        engine_.reset();
        expect_no_secrets();
      }
      EXPECT_FALSE(struck) << kind;
    }
}

// The host lacks memory in the middle of a start.
TEST_P(SlhWiped, AfterAStartThatThrows) {
  for (const lc_slh_dsa_operation operation : {LC_SLH_DSA_SIGN, LC_SLH_DSA_GENERATE}) {
    open("");
    for (int n = 0; n < 3; ++n) {
      SCOPED_TRACE(n);
      const std::shared_ptr<SlhRequest> asked = request(operation);
      const BatchItem item{asked, 0};
      kernels_left_ = n;
      ItemResults results(1);
      EXPECT_THROW((void)engine_->start(asked->kind_of(0), {&item, 1}, results), std::bad_alloc);
      kernels_left_ = -1;
      expect_no_secrets();
      bool right = false;
      EXPECT_TRUE(run(operation, &right).ok());
      EXPECT_TRUE(right);
      expect_no_secrets();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, SlhWiped,
                         testing::Values(LC_SLH_DSA_SHA2_128F, LC_SLH_DSA_SHAKE_128F));

}  // namespace
}  // namespace lanecrypt::runtime
