// A batch of ML-DSA leaves neither private keys, nor values derived from them, nor seeds in device
// memory or in pinned host memory, however it ended. The tests use the emulator, whose device
// memory they can read.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "cpu/ml_dsa/host_ml_dsa.h"
#include "ml_dsa/ml_dsa_engine.h"
#include "unit/support/faulty_device.h"
#include "unit/support/watched_device.h"

namespace lanecrypt::runtime {
namespace {

using test::Bytes;
using test::WatchedDevice;
using test::WatchedMemory;

constexpr size_t kCount = 2;

class MlDsaWiped : public testing::Test {
 protected:
  void open(const std::string &faults) {
    engine_.reset();
    memory_ = WatchedMemory();
    device::Found found = test::wrapped(
        test::with_faults(test::find_device("host:0"), faults),
        [this](auto inner) { return std::make_unique<WatchedDevice>(std::move(inner), memory_); });
    Result<std::unique_ptr<MlDsaEngine>> engine =
        make_ml_dsa_engine(found, {.verify = LC_VERIFY_FULL, .skip_self_test = true});
    ASSERT_TRUE(engine.ok()) << engine.status().text();
    engine_ = std::move(*engine);
  }
  // Makes the items of the next batch, and collects the secrets that must not be left anywhere.
  void draw(lc_ml_dsa_operation operation) {
    operation_ = operation;
    secrets_.clear();
    items_.assign(kCount, {});
    keys_.clear();
    seeds_.clear();
    seeds_.reserve(kCount);
    outputs_.assign(kCount, Bytes(sizes_.public_bytes + sizes_.private_bytes));
    for (size_t n = 0; n < kCount; ++n) {
      Bytes seed(32);
      for (uint8_t &byte : seed) {
        ++drawn_;
        byte = uint8_t(17 * drawn_ + drawn_ / 256);
      }
      MlDsaItem &item = items_[n];
      seeds_.push_back(seed);
      item.random = seeds_.back().data();
      Result<std::shared_ptr<MlDsaKey>> key = cpu::make_ml_dsa_key(
          {.sizes = &sizes_, .seed = seed, .private_key = {}, .public_key = {}, .random = {}});
      ASSERT_TRUE(key.ok());
      keys_.push_back(*key);
      // K; then s1, s2 and t0.
      const std::span<const uint8_t> secret = (*key)->private_key();
      secrets_.emplace_back(secret.begin() + 32, secret.begin() + 64);
      secrets_.emplace_back(secret.begin() + 128, secret.end());
      if (operation == LC_ML_DSA_GENERATE) {
        secrets_.push_back(seed);
        item.public_key = outputs_[n].data();
        item.private_key = &outputs_[n][sizes_.public_bytes];
      } else {
        item.key = keys_[n].get();
        item.signature = outputs_[n].data();
      }
    }
  }
  void expect_no_secrets() {
    for (size_t n = 0; n < secrets_.size(); ++n)
      EXPECT_FALSE(memory_.holds(secrets_[n])) << "secret " << n;
  }
  // Runs the batch, and returns its final status.
  Status run(ItemResults *results) {
    *results = ItemResults(kCount);
    const BatchEngine::Started started = engine_->start_items(operation_, sizes_, items_);
    if (!started.failure.ok()) return started.failure.status();
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!started.batch->is_done() && std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
    // Until the results are handed out, a new key must be found in memory. This shows that the test
    // can fail.
    const bool was_there = memory_.holds(secrets_.front());
    const Status status = started.batch->finish(*results).status();
    if (status.ok() && operation_ == LC_ML_DSA_GENERATE && results->is_right(0)) {
      EXPECT_TRUE(was_there);
    }
    return status;
  }

  const MlDsaSizes &sizes_ = kMlDsaSizes[0];
  WatchedMemory memory_;
  lc_ml_dsa_operation operation_ = LC_ML_DSA_SIGN;
  std::vector<MlDsaKeyPointer> keys_;
  std::vector<Bytes> outputs_, secrets_, seeds_;
  std::vector<MlDsaItem> items_;
  uint32_t drawn_ = 0;
  std::unique_ptr<MlDsaEngine> engine_;
};

constexpr lc_ml_dsa_operation kSecretOperations[] = {LC_ML_DSA_SIGN, LC_ML_DSA_GENERATE};

TEST_F(MlDsaWiped, AfterABatch) {
  for (const lc_ml_dsa_operation operation : kSecretOperations) {
    open("");
    for (int batch = 0; batch < 2; ++batch) {
      draw(operation);
      ItemResults results;
      const Status status = run(&results);
      EXPECT_TRUE(status.ok()) << status.text();
      expect_no_secrets();
    }
    engine_.reset();
    expect_no_secrets();
  }
}

// That memory is excluded from core dumps and from children of fork.
TEST_F(MlDsaWiped, WhatPassesThroughTheHostIsGuarded) {
  if (test::flags_of(&memory_).empty()) GTEST_SKIP() << "the kernel tells no flags of mappings";
  open("");
  draw(LC_ML_DSA_GENERATE);
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
TEST_F(MlDsaWiped, AfterABatchThatFails) {
  for (const lc_ml_dsa_operation operation : kSecretOperations)
    for (const char *kind : {"fail-launch:", "no-memory:", "drop-kernel:", "flip-bit:"}) {
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
