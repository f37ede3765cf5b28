// A batch of RSA leaves neither results nor inputs nor keys in device memory or in pinned host
// memory, however it ended. The tests use the emulator, whose device memory they can read.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cpu/rsa/cpu_rsa.h"
#include "rsa/rsa_engine.h"
#include "unit/support/faulty_device.h"
#include "unit/support/mapping_flags.h"
#include "unit/support/random_bytes.h"
#include "unit/support/rsa_test_key.h"
#include "unit/support/watched_device.h"

namespace lanecrypt::runtime {
namespace {

using test::Bytes;
using test::TestKey;
using test::WatchedDevice;
using test::WatchedMemory;

constexpr size_t kCount = 3;

Bytes reversed(Bytes bytes) {
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

class RsaWiped : public testing::Test {
 protected:
  void open(const std::string &faults) {
    engine_.reset();
    memory_ = WatchedMemory();
    device::Found found = test::wrapped(
        test::with_faults(test::find_device("host:0"), faults),
        [this](auto inner) { return std::make_unique<WatchedDevice>(std::move(inner), memory_); });
    Result<std::unique_ptr<RsaEngine>> engine =
        make_rsa_engine(found, {.verify = LC_VERIFY_FULL, .skip_self_test = true});
    ASSERT_TRUE(engine.ok()) << engine.status().text();
    engine_ = std::move(*engine);
  }
  // Draws the inputs of the next operation.
  void draw(lc_rsa_operation operation) {
    const lc_rsa_parts parts = numbers_.parts();
    Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(&parts);
    ASSERT_TRUE(key.ok() && cpu::prepare(**key).ok());
    key_ = *key;
    operation_ = operation;
    inputs_.assign(kCount, Bytes(numbers_.n.size()));
    outputs_ = inputs_;
    items_.clear();
    secrets_ = {numbers_.p,           numbers_.q, numbers_.dp, numbers_.dq, reversed(numbers_.dp),
                reversed(numbers_.dq)};
    for (size_t n = 0; n < kCount; ++n) {
      random_.fill(inputs_[n].data(), inputs_[n].size());
      inputs_[n][0] = 0;
      const Bytes output =
          numbers_.power(inputs_[n], operation == LC_RSA_PRIVATE ? numbers_.secret.get()
                                                                 : numbers_.exponent.get());
      items_.push_back({key_.get(), inputs_[n].data(), outputs_[n].data()});
      secrets_.push_back(inputs_[n]);
      secrets_.push_back(output);
      expected_ = output;
    }
  }
  void expect_no_secrets() {
    for (size_t n = 0; n < secrets_.size(); ++n)
      EXPECT_FALSE(memory_.holds(secrets_[n])) << "secret " << n;
  }
  // Runs the batch, and returns its final status.
  Status run(ItemResults *results) {
    *results = ItemResults(kCount);
    const BatchEngine::Started started = engine_->start_items(operation_, items_, *results);
    if (!started.failure.ok()) return started.failure.status();
    // Until the result is handed out, the secret must be found in memory. This shows that the test
    // can fail.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    bool is_done = false;
    while (!(is_done = started.batch->is_done()) && std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
    const bool was_there = is_done && memory_.holds(expected_);
    const Status status = started.batch->finish(*results).status();
    if (status.ok() && results->is_right(kCount - 1)) {
      EXPECT_TRUE(was_there);
    }
    return status;
  }

  WatchedMemory memory_;
  const TestKey &numbers_ = test::key_of_bits(1024);
  RsaKeyPointer key_;
  lc_rsa_operation operation_ = LC_RSA_PRIVATE;
  std::vector<Bytes> inputs_, outputs_;
  std::vector<RsaItem> items_;
  std::vector<Bytes> secrets_;
  Bytes expected_;
  test::Random random_{17};
  std::unique_ptr<RsaEngine> engine_;
};

TEST_F(RsaWiped, AfterABatch) {
  for (const lc_rsa_operation operation : {LC_RSA_PRIVATE, LC_RSA_PUBLIC}) {
    open("");
    for (int batch = 0; batch < 2; ++batch) {
      draw(operation);
      ItemResults results;
      const Status status = run(&results);
      EXPECT_TRUE(status.ok()) << status.text();
      EXPECT_EQ(expected_, outputs_.back());
      expect_no_secrets();
    }
    engine_.reset();
    expect_no_secrets();
  }
}

// That memory is excluded from core dumps and from children of fork.
TEST_F(RsaWiped, WhatPassesThroughTheHostIsGuarded) {
  if (test::flags_of(&memory_).empty()) GTEST_SKIP() << "the kernel tells no flags of mappings";
  open("");
  draw(LC_RSA_PRIVATE);
  ItemResults results;
  EXPECT_TRUE(run(&results).ok());
  const std::vector<std::string> flags = memory_.flags_of_pinned();
  EXPECT_EQ(2u, flags.size());
  for (const std::string &of_one : flags) {
    EXPECT_NE(std::string::npos, of_one.find(" dd ")) << of_one;
    EXPECT_NE(std::string::npos, of_one.find(" wf ")) << of_one;
  }
}

// A launch or an allocation fails, or a result is wrong.
TEST_F(RsaWiped, AfterABatchThatFails) {
  for (const lc_rsa_operation operation : {LC_RSA_PRIVATE, LC_RSA_PUBLIC})
    for (const char *kind :
         {"fail-launch:", "no-memory:", "no-pin:", "drop-kernel:", "flip-bit:"}) {
      bool struck = true;
      for (int n = 0; n < 20 && struck; ++n) {
        SCOPED_TRACE(kind + std::to_string(n));
        open(kind + std::to_string(n));
        draw(operation);
        ItemResults results;
        const Status status = run(&results);
        struck = !status.ok() || !results.are_all_right();
        expect_no_secrets();
        engine_.reset();
        expect_no_secrets();
      }
      EXPECT_FALSE(struck) << kind;
    }
}

}  // namespace
}  // namespace lanecrypt::runtime
