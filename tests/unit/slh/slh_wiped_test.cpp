// A batch of SLH-DSA leaves no key in the device's memory or in the host's pinned memory,
// however it ended. The tests use the emulator, whose device memory they can read.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "slh/slh_engine.h"
#include "slh/slh_request.h"
#include "unit/slh/slh_dsa_job.h"
#include "unit/support/faulty_device.h"
#include "unit/support/forwarding_device.h"

namespace lanecrypt::runtime {
namespace {

using device::Buffer;
using device::MemoryKind;
using test::SlhBytes;

// All of a device's memory.
class Memory {
 public:
  void add(const Buffer *buffer) { live_.insert(buffer); }
  void remove(const Buffer *buffer) {
    freed_.push_back(content(*buffer));
    live_.erase(buffer);
  }
  // Whether the secret is there, or was there when memory was freed.
  bool holds(const SlhBytes &secret) const {
    const auto is_in = [&](const SlhBytes &content) {
      return std::search(content.begin(), content.end(), secret.begin(), secret.end()) !=
             content.end();
    };
    return std::any_of(freed_.begin(), freed_.end(), is_in) ||
           std::any_of(live_.begin(), live_.end(),
                       [&](const Buffer *buffer) { return is_in(content(*buffer)); });
  }

 private:
  static SlhBytes content(const Buffer &buffer) {
    const auto *from = reinterpret_cast<const uint8_t *>(buffer.address());
    return SlhBytes(from, from + buffer.bytes());
  }

  std::set<const Buffer *> live_;
  std::vector<SlhBytes> freed_;
};

class WatchedBuffer : public test::ForwardingBuffer {
 public:
  WatchedBuffer(std::unique_ptr<Buffer> inner, Memory &memory)
      : ForwardingBuffer(std::move(inner)), memory_(memory) {
    std::memset(reinterpret_cast<void *>(address()), 0, bytes());
    memory_.add(this);
  }
  ~WatchedBuffer() override { memory_.remove(this); }

 private:
  Memory &memory_;
};

class WatchedDevice : public test::ForwardingDevice {
 public:
  WatchedDevice(std::unique_ptr<Device> inner, Memory &memory)
      : ForwardingDevice(std::move(inner)), memory_(memory) {}
  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override {
    return watched(inner().allocate(kind, bytes));
  }
  Result<std::unique_ptr<Buffer>> pin_in_place(void *memory, uint64_t bytes) override {
    return watched(inner().pin_in_place(memory, bytes));
  }

 private:
  Result<std::unique_ptr<Buffer>> watched(Result<std::unique_ptr<Buffer>> buffer) {
    if (!buffer.ok()) return buffer.status();
    return std::unique_ptr<Buffer>(std::make_unique<WatchedBuffer>(std::move(*buffer), memory_));
  }
  Memory &memory_;
};

class SlhWiped : public testing::TestWithParam<lc_slh_dsa_set> {
 protected:
  void open(const std::string &faults) {
    engine_.reset();
    memory_ = Memory();
    device::Found found = test::wrapped(
        test::with_faults(test::find_device("host:0"), faults),
        [this](auto inner) { return std::make_unique<WatchedDevice>(std::move(inner), memory_); });
    Result<std::unique_ptr<BatchEngine>> engine = make_slh_engine(found, {.skip_self_test = true});
    ASSERT_TRUE(engine.ok()) << engine.status().text();
    engine_ = std::move(*engine);
  }
  const SlhSet &set() const { return *find_slh_set(uint32_t(GetParam())); }
  // SK.seed as bytes and as the words of the kernels, and the secret at the head of a chain of
  // the top layer, which no signature of this message shows.
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
  // Runs an operation. Returns how it ended.
  Status run(lc_slh_dsa_operation operation, bool *right) {
    const std::shared_ptr<SlhRequest> asked = request(operation);
    const BatchItem item{asked, 0};
    Result<std::unique_ptr<Batch>> batch = engine_->start(asked->kind_of(0), {&item, 1});
    if (!batch.ok()) return batch.status();
    // The pinned memory holds the key until the batch is over: so the test can fail.
    EXPECT_TRUE(memory_.holds(secrets()[set().shake ? 0 : 1]));
    while (!(*batch)->is_done()) std::this_thread::yield();
    uint8_t is_right = 1;
    const Status status = (*batch)->finish({&is_right, 1});
    *right = is_right == 1;
    return status;
  }

  Memory memory_;
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

// A kernel or memory is refused, or a result is wrong.
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

INSTANTIATE_TEST_SUITE_P(Sets, SlhWiped,
                         testing::Values(LC_SLH_DSA_SHA2_128F, LC_SLH_DSA_SHAKE_128F));

}  // namespace
}  // namespace lanecrypt::runtime
