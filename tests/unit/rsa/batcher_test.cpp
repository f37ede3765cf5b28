// The batcher of RSA, with an engine of the test's own in the place of a device: what it
// gathers, what it does when the engine fails, and where single operations run.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "cpu/rsa/cpu_rsa.h"
#include "rsa/batcher.h"
#include "rsa/rsa_choice.h"
#include "rsa/rsa_dispatcher.h"

namespace lanecrypt::schedule {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<uint8_t>;

// A public key with a random odd modulus: OpenSSL raises to e without knowing primes.
RsaKeyPointer make_key(size_t bytes, uint8_t seed) {
  Bytes n(bytes);
  for (size_t at = 0; at < bytes; ++at) n[at] = uint8_t(seed * 31 + at * 7 + 1);
  n[0] |= 0x80;
  n.back() |= 1;
  const uint8_t e = 3;
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.n = {n.data(), n.size()};
  parts.e = {&e, 1};
  Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(&parts);
  EXPECT_TRUE(key.ok()) << key.status().text();
  EXPECT_TRUE(cpu::prepare(**key).ok());
  return *key;
}

// What an engine has done, and is to do.
struct Plan {
  std::mutex mutex;
  std::vector<size_t> batches;
  std::vector<size_t> keys_in_batch;
  size_t most_at_once = 0, at_once = 0;
  std::set<std::thread::id> threads;
  std::atomic<int> slow_ms{0};
  std::atomic<int> lost_after{1 << 30};  // batches
  std::atomic<bool> refuses{false}, every_third_is_wrong{false};
  std::atomic<int> abandoned{0};
  // Set these while nothing is under way. They are called on the batcher's thread. On a
  // busy machine the order of events is by chance, so these say what a batch waits for,
  // and what comes while it starts.
  std::function<bool()> may_end;
  std::function<void()> on_stuck;  // the next batch does not end
};

class TestBatch : public RsaBatch {
 public:
  TestBatch(Plan &plan, lc_rsa_operation operation, std::span<const RsaItem> items, bool lost,
            bool stuck)
      : plan_(plan),
        operation_(operation),
        items_(items.begin(), items.end()),
        lost_(lost),
        is_stuck_(stuck),
        ready_(std::chrono::steady_clock::now() + std::chrono::milliseconds(plan.slow_ms)) {}
  bool is_done() override {
    return !is_stuck_ && std::chrono::steady_clock::now() >= ready_ &&
           (plan_.may_end == nullptr || plan_.may_end());
  }
  void abandon() override {
    ++plan_.abandoned;
    const std::lock_guard lock(plan_.mutex);
    --plan_.at_once;
  }
  Status finish(std::span<uint8_t> right) override {
    std::this_thread::sleep_until(ready_);
    {
      const std::lock_guard lock(plan_.mutex);
      --plan_.at_once;
    }
    if (lost_) return Status(LC_ERROR_DEVICE, "lost");
    for (size_t n = 0; n < items_.size(); ++n) {
      const RsaItem &item = items_[n];
      if (plan_.every_third_is_wrong && n % 3 == 0) {
        right[n] = 0;
        continue;
      }
      LC_TRY(cpu::run_rsa(*item.key, operation_, item.in, item.out));
    }
    return Status();
  }

 private:
  Plan &plan_;
  lc_rsa_operation operation_;
  std::vector<RsaItem> items_;
  bool lost_, is_stuck_;
  std::chrono::steady_clock::time_point ready_;
};

class TestEngine : public RsaEngine {
 public:
  explicit TestEngine(Plan &plan) : plan_(plan) {}
  Result<std::unique_ptr<RsaBatch>> start(lc_rsa_operation operation,
                                          std::span<const RsaItem> items) override {
    const std::function<void()> on_stuck = std::exchange(plan_.on_stuck, nullptr);
    if (on_stuck != nullptr) on_stuck();
    const std::lock_guard lock(plan_.mutex);
    if (plan_.refuses) return Status(LC_ERROR_MEMORY, "no memory");
    std::set<const RsaKey *> keys;
    for (const RsaItem &item : items) keys.insert(item.key);
    plan_.batches.push_back(items.size());
    plan_.keys_in_batch.push_back(keys.size());
    plan_.most_at_once = std::max(plan_.most_at_once, ++plan_.at_once);
    plan_.threads.insert(std::this_thread::get_id());
    return std::unique_ptr<RsaBatch>(std::make_unique<TestBatch>(
        plan_, operation, items, int(plan_.batches.size()) > plan_.lost_after,
        on_stuck != nullptr));
  }
  uint64_t launches() const override { return plan_.batches.size(); }
  bool is_stuck() const override { return plan_.abandoned > 0; }

 private:
  Plan &plan_;
};

class BatcherTest : public testing::Test {
 protected:
  // Something must end within `time`; by default a minute, which only a hang takes.
  explicit BatcherTest(std::chrono::milliseconds time = 60s) : time_(time) {}
  RsaRequestPointer make_request(const std::vector<RsaKeyPointer> &keys, size_t messages,
                                 std::vector<Bytes> *outputs, Ending::Callback on_end = nullptr) {
    RsaJob job;
    job.operation = LC_RSA_PUBLIC;
    job.keys = keys;
    outputs->resize(messages);
    for (size_t n = 0; n < messages; ++n) {
      const uint32_t key = uint32_t(n % keys.size());
      (*outputs)[n].assign(keys[key]->modulus_bytes, 0xA5);
      job.messages.push_back({key, input_of(*keys[key]), (*outputs)[n].data()});
    }
    return std::make_shared<RsaRequest>(std::move(job), std::move(on_end));
  }
  // The same input for all operations of a key, less than its modulus.
  const uint8_t *input_of(const RsaKey &key) {
    const std::lock_guard lock(mutex_);
    Bytes &input = inputs_[&key];
    if (input.empty()) {
      input.assign(key.modulus_bytes, uint8_t(key.modulus_bytes + 5));
      input[0] = 1;
    }
    return input.data();
  }
  void expect_right(const RsaRequest &request, const std::vector<Bytes> &outputs) {
    for (size_t n = 0; n < outputs.size(); ++n) {
      const RsaMessage &message = request.job.messages[n];
      const RsaKey &key = request.job.key_of(message);
      Bytes expected(key.modulus_bytes);
      ASSERT_TRUE(cpu::run_rsa(key, LC_RSA_PUBLIC, message.in, expected.data()).ok());
      ASSERT_EQ(expected, outputs[n]) << n;
    }
  }
  static std::vector<RsaKind> kinds_of(const RsaRequest &request) {
    std::vector<RsaKind> kinds;
    for (const RsaMessage &message : request.job.messages)
      kinds.push_back(request.job.key_of(message).modulus_bytes);
    return kinds;
  }
  bool submit(const RsaRequestPointer &request) {
    return batcher_.submit(request, kinds_of(*request));
  }

  const std::chrono::milliseconds time_;
  Plan plan_;
  Counters counters_;
  // How many were handed back. The test does them as the CPU would.
  std::atomic<int> handed_back_{0};
  std::mutex mutex_;
  std::map<const RsaKey *, Bytes> inputs_;
  Batcher batcher_{
      [this]() -> Result<std::unique_ptr<RsaEngine>> {
        if (plan_.lost_after < 0) return Status(LC_ERROR_NO_DEVICE, "does not open");
        return std::unique_ptr<RsaEngine>(std::make_unique<TestEngine>(plan_));
      },
      counters_,
      [this](const RsaRequestPointer &request, const Status &) {
        ++handed_back_;
        for (const uint32_t n : request->todo) {
          const RsaMessage &message = request->job.messages[n];
          (void)cpu::run_rsa(request->job.key_of(message), LC_RSA_PUBLIC, message.in, message.out);
          ++request->result.cpu_operations;
        }
        request->end();
      },
      {.batch_operations = 100, .batches = 2, .waiting_operations = 1000, .time = time_}};
};

TEST_F(BatcherTest, ThreadsShareBatchesWithKeysMixed) {
  // A batch lasts until everybody waits.
  std::atomic<size_t> callers{64};
  plan_.may_end = [&] { return batcher_.load() >= callers; };
  // More operations are of one kind, so that enough come for a batch while one of the
  // other kind runs.
  std::vector<RsaKeyPointer> keys;
  for (uint8_t n = 0; n < 4; ++n) keys.push_back(make_key(n < 3 ? 64 : 128, n));
  const auto call_ten_times = [&](size_t first) {
    for (size_t call = first; call < first + 10; ++call) {
      std::vector<Bytes> outputs;
      const RsaRequestPointer request = make_request({keys[call % keys.size()]}, 1, &outputs);
      ASSERT_TRUE(submit(request));
      EXPECT_TRUE(request->wait().ok());
      EXPECT_EQ(1u, request->result.device_operations);
      expect_right(*request, outputs);
    }
  };
  std::vector<std::thread> threads;
  for (size_t t = callers; t > 0; --t)
    threads.emplace_back([&, t] {
      call_ten_times(t);
      --callers;
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(640u, counters_.operations);
  EXPECT_EQ(0u, batcher_.load());
  EXPECT_EQ(plan_.batches.size(), counters_.launches);
  // There are far fewer batches than operations. A batch has several keys. Two are under
  // way at once, and one thread does them all.
  EXPECT_LT(plan_.batches.size(), 200u);
  EXPECT_EQ(3u, *std::max_element(plan_.keys_in_batch.begin(), plan_.keys_in_batch.end()));
  EXPECT_EQ(2u, plan_.most_at_once);
  EXPECT_EQ(1u, plan_.threads.size());
}

TEST_F(BatcherTest, AnIdleDeviceStartsAtOnce) {
  std::vector<Bytes> outputs;
  const RsaRequestPointer request = make_request({make_key(64, 1)}, 1, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ(std::vector<size_t>{1}, plan_.batches);
}

TEST_F(BatcherTest, ALargeRequestIsCutAndKindsAreKeptApart) {
  std::vector<Bytes> outputs;
  const RsaRequestPointer request =
      make_request({make_key(64, 1), make_key(128, 2), make_key(64, 3)}, 1000, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_EQ(1000u, request->result.device_operations);
  for (const size_t batch : plan_.batches) EXPECT_LE(batch, 100u);
  for (const size_t keys : plan_.keys_in_batch) EXPECT_LE(keys, 2u);
}

// If others were to come, it would be too little for a batch of its own.
TEST_F(BatcherTest, WhatIsLeftOfALargeRequestWaitsForNobody) {
  const auto give_up = std::chrono::steady_clock::now() + 10s;
  plan_.may_end = [&] {
    return plan_.most_at_once == 2 || std::chrono::steady_clock::now() >= give_up;
  };
  std::vector<Bytes> outputs;
  const RsaRequestPointer request = make_request({make_key(64, 1)}, 130, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ((std::vector<size_t>{100, 30}), plan_.batches);
  EXPECT_EQ(2u, plan_.most_at_once);
}

TEST_F(BatcherTest, WrongResultsAreMadeAgain) {
  plan_.every_third_is_wrong = true;
  std::vector<Bytes> outputs;
  const RsaRequestPointer request = make_request({make_key(64, 1)}, 90, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_GE(request->result.failed_checks, 30u);
  EXPECT_EQ(request->result.failed_checks, request->result.cpu_operations);
  EXPECT_EQ(90u, request->result.cpu_operations + request->result.device_operations);
  EXPECT_EQ(request->result.failed_checks, counters_.failures);
}

TEST_F(BatcherTest, WhatADeviceLosesIsHandedBack) {
  plan_.slow_ms = 3;
  plan_.lost_after = 2;
  std::vector<std::vector<Bytes>> outputs(50);
  std::vector<RsaRequestPointer> requests;
  for (std::vector<Bytes> &each : outputs)
    requests.push_back(make_request({make_key(64, 1), make_key(128, 2)}, 20, &each));
  for (const RsaRequestPointer &request : requests)
    if (!submit(request)) {
      // The device was lost before, so nothing of the request is touched.
      EXPECT_EQ(20u, request->todo.size());
      request->end();
    } else {
      EXPECT_TRUE(request->wait().ok());
      EXPECT_EQ(20u, request->result.cpu_operations + request->result.device_operations);
    }
  EXPECT_GT(handed_back_, 0);
  EXPECT_FALSE(batcher_.may_work());
  EXPECT_EQ("lost", batcher_.status().text());
  EXPECT_EQ(0u, batcher_.load());
}

class StuckBatcherTest : public BatcherTest {
 protected:
  StuckBatcherTest() : BatcherTest(200ms) {}
};

// Of two batches under way one does not end. The other does, and its results are kept.
TEST_F(StuckBatcherTest, WhatIsStuckIsGivenUp) {
  std::vector<Bytes> outputs[3];
  const RsaRequestPointer right = make_request({make_key(64, 1)}, 40, &outputs[0]);
  ASSERT_TRUE(submit(right));
  EXPECT_TRUE(right->wait().ok());
  const RsaRequestPointer stuck = make_request({make_key(64, 1)}, 40, &outputs[1]);
  const RsaRequestPointer behind = make_request({make_key(128, 2)}, 40, &outputs[2]);
  // In time, however long this thread gets no turn.
  plan_.on_stuck = [&] { EXPECT_TRUE(submit(behind)); };
  ASSERT_TRUE(submit(stuck));
  for (const RsaRequestPointer &request : {stuck, behind}) EXPECT_TRUE(request->wait().ok());
  expect_right(*stuck, outputs[1]);
  expect_right(*behind, outputs[2]);
  EXPECT_EQ(40u, stuck->result.cpu_operations);
  EXPECT_EQ(40u, behind->result.device_operations);
  EXPECT_EQ(1, plan_.abandoned);
  EXPECT_FALSE(batcher_.may_work());
  EXPECT_EQ(LC_DEVICE_LOST, batcher_.service().state);
  EXPECT_EQ("stuck: nothing ended within 200 ms", batcher_.service().reason);
  EXPECT_EQ(1u, counters_.failures);
  EXPECT_EQ(0u, batcher_.load());
}

// A batch that ends while the batcher's thread gets no turn was in time.
TEST_F(StuckBatcherTest, WhoLooksLateFindsNothingStuck) {
  int looks = 0;
  plan_.may_end = [&] {
    const bool ended = looks++ != 0;
    if (!ended) std::this_thread::sleep_for(300ms);  // longer than the limit
    return ended;
  };
  std::vector<Bytes> outputs;
  const RsaRequestPointer request = make_request({make_key(64, 1)}, 3, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ(3u, request->result.device_operations);
  EXPECT_TRUE(batcher_.may_work());
  EXPECT_EQ(0u, counters_.failures);
}

TEST_F(BatcherTest, ADeviceThatDoesNotOpenHandsBack) {
  plan_.lost_after = -1;
  std::vector<Bytes> outputs;
  const RsaRequestPointer request = make_request({make_key(64, 1)}, 3, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_EQ(3u, request->result.cpu_operations);
  EXPECT_FALSE(batcher_.may_work());
}

TEST_F(BatcherTest, WantOfMemoryPasses) {
  plan_.refuses = true;
  std::vector<Bytes> outputs[2];
  const RsaRequestPointer first = make_request({make_key(64, 1)}, 3, &outputs[0]);
  ASSERT_TRUE(submit(first));
  EXPECT_TRUE(first->wait().ok());
  EXPECT_EQ(3u, first->result.cpu_operations);
  plan_.refuses = false;
  const RsaRequestPointer second = make_request({make_key(64, 1)}, 3, &outputs[1]);
  ASSERT_TRUE(submit(second));
  EXPECT_TRUE(second->wait().ok());
  EXPECT_EQ(3u, second->result.device_operations);
}

TEST_F(BatcherTest, KeysThatNoDeviceTakesAreHandedBackInTheEnd) {
  std::vector<Bytes> outputs;
  const RsaRequestPointer request = make_request({make_key(64, 1), make_key(128, 2)}, 10, &outputs);
  std::vector<RsaKind> kinds = kinds_of(*request);
  for (RsaKind &kind : kinds) kind = kind == 64 ? 0 : kind;
  ASSERT_TRUE(batcher_.submit(request, kinds));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_EQ(5u, request->result.device_operations);
  EXPECT_EQ(5u, request->result.cpu_operations);
}

TEST_F(BatcherTest, CallersMayGoAndStopFinishesWhatWaits) {
  plan_.slow_ms = 5;
  std::atomic<int> ended{0};
  std::vector<std::vector<Bytes>> outputs(300);
  const RsaKeyPointer key = make_key(64, 1);
  for (std::vector<Bytes> &each : outputs)
    ASSERT_TRUE(submit(make_request({key}, 1, &each, [&](const Status &) { ++ended; })));
  batcher_.stop();
  EXPECT_EQ(300, ended);
  std::vector<Bytes> late;
  EXPECT_FALSE(submit(make_request({key}, 1, &late)));
}

TEST_F(BatcherTest, EstimatesByWhatBatchesTook) {
  plan_.slow_ms = 20;
  const auto estimate = [&] { return batcher_.estimate(LC_RSA_PUBLIC, 64, 7ms); };
  EXPECT_EQ(7ms, estimate());
  std::vector<Bytes> outputs;
  const RsaRequestPointer request = make_request({make_key(64, 1)}, 1, &outputs);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_GE(estimate(), 20ms);
  EXPECT_LE(estimate(), std::chrono::steady_clock::now() - begin);
  EXPECT_EQ(7ms, batcher_.estimate(LC_RSA_PRIVATE, 64, 7ms));
  EXPECT_TRUE(batcher_.has_room());
}

// ---- The dispatcher ----------------------------------------------------------

// A device with room for four operations, none of which ends before all four are there.
class FullQueueTest : public BatcherTest {
 protected:
  void open(lc_fallback fallback) {
    dispatcher_ = std::make_unique<RsaDispatcher>(
        of_cpu_, fallback, RsaTrust{},
        [this](const device::Found &, const RsaTrust &) -> Result<std::unique_ptr<RsaEngine>> {
          return std::unique_ptr<RsaEngine>(std::make_unique<TestEngine>(plan_));
        },
        Batcher::Limits{.batch_operations = 2, .batches = 1, .waiting_operations = 4});
    dispatcher_->add_device({}, of_device_, true);
    plan_.may_end = [this] { return !is_held_; };
  }
  // How many of `count` requests of a single operation ran on the device.
  size_t on_device(size_t count, uint32_t device) {
    std::vector<std::vector<Bytes>> outputs(count);
    std::vector<RsaRequestPointer> requests;
    is_held_ = true;
    for (std::vector<Bytes> &each : outputs) {
      requests.push_back(make_request({key_}, 1, &each));
      requests.back()->job.device = device;
      EXPECT_TRUE(dispatcher_->submit(requests.back()).ok());
    }
    is_held_ = false;
    size_t operations = 0;
    for (size_t n = 0; n < count; ++n) {
      EXPECT_TRUE(requests[n]->wait().ok());
      expect_right(*requests[n], outputs[n]);
      operations += requests[n]->result.device_operations;
      EXPECT_EQ(1u, requests[n]->result.device_operations + requests[n]->result.cpu_operations);
    }
    return operations;
  }

  std::atomic<bool> is_held_{false};
  Counters of_cpu_, of_device_;
  const RsaKeyPointer key_ = make_key(128, 1);
  std::unique_ptr<RsaDispatcher> dispatcher_;
};

TEST_F(FullQueueTest, TheCpuTakesWhatComes) {
  open(LC_FALLBACK_CPU);
  // Four are in the device's queue, and two of them are under way.
  EXPECT_EQ(4u, on_device(12, LC_ANY_DEVICE));
  EXPECT_EQ(8u, of_cpu_.operations);
  EXPECT_EQ(4u, on_device(4, LC_ANY_DEVICE)) << "there is room again";
}

TEST_F(FullQueueTest, WhoWantsADeviceWaitsForIt) {
  open(LC_FALLBACK_CPU);
  EXPECT_EQ(8u, on_device(8, 0)) << "the device was named";
  open(LC_FALLBACK_NONE);
  EXPECT_EQ(8u, on_device(8, LC_ANY_DEVICE)) << "there is nothing else";
  // A large request is taken whole.
  open(LC_FALLBACK_CPU);
  std::vector<Bytes> outputs;
  const RsaRequestPointer large = make_request({key_}, 10, &outputs);
  large->job.device = LC_ANY_DEVICE;
  ASSERT_TRUE(dispatcher_->submit(large).ok());
  EXPECT_TRUE(large->wait().ok());
  EXPECT_EQ(10u, large->result.device_operations);
}

// ---- The choice --------------------------------------------------------------

class ChoiceTest : public testing::Test {
 protected:
  // A clock of the test's own: a busy machine may let any time pass between two lines.
  inline static std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  size_t load_ = 0;
  std::optional<RsaChoice::Duration> estimate_;
  int warm_ups_ = 0;
  RsaChoice choice_{{.load = [this] { return load_; },
                     .estimate = [this](uint32_t, RsaChoice::Duration) { return estimate_; },
                     .warm_up = [this] { ++warm_ups_; },
                     .now = [] { return now_; }},
                    16};
  void run_on_cpu(uint32_t bits, RsaChoice::Duration took) {
    ASSERT_FALSE(choice_.is_device_sooner(bits, 1));
    choice_.ran_on_cpu(bits, took);
  }
};

TEST_F(ChoiceTest, ALoneCallerStaysOnItsCpu) {
  estimate_ = 2ms;
  for (int call = 0; call < 1000; ++call) run_on_cpu(2048, 360us);
  EXPECT_EQ(0, warm_ups_);
}

TEST_F(ChoiceTest, AThreadOnEveryCoreStaysThere) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  for (int round = 0; round < 10; ++round) {
    for (int n = 0; n < 16; ++n) EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
    for (int n = 0; n < 16; ++n) choice_.ran_on_cpu(2048, 360us);
  }
}

TEST_F(ChoiceTest, ManyCallersGoToTheDeviceAndStayThereBetweenBatches) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  int on_cpu = 0, on_device = 0;
  for (int n = 0; n < 256; ++n) {
    if (choice_.is_device_sooner(2048, 1)) {
      ++on_device;
      ++load_;
    } else {
      ++on_cpu;
    }
  }
  // About 98 callers on 16 cores take 2.2 ms.
  EXPECT_GT(on_device, 140);
  EXPECT_GT(on_cpu, 60);
  for (; on_cpu > 0; --on_cpu) choice_.ran_on_cpu(2048, 2ms);
  // A batch ends, and for a moment nobody is there.
  load_ = 0;
  EXPECT_TRUE(choice_.is_device_sooner(2048, 1));
  // After that the others stay away.
  now_ += 30ms;
  EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
  choice_.ran_on_cpu(2048, 360us);
  now_ += 30ms;
  EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
}

TEST_F(ChoiceTest, OneThreadWithManyJobsGoesToTheDevice) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  EXPECT_FALSE(choice_.is_device_sooner(2048, 3));
  choice_.ran_on_cpu(2048, 360us);
  EXPECT_TRUE(choice_.is_device_sooner(2048, 10));
}

TEST_F(ChoiceTest, DevicesAreOpenedWhenTheyWouldPay) {
  run_on_cpu(2048, 360us);
  for (int n = 0; n < 60; ++n) EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
  EXPECT_EQ(0, warm_ups_);
  for (int n = 0; n < 100; ++n) EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
  EXPECT_GT(warm_ups_, 0);
}

TEST_F(ChoiceTest, SizesAreKnownApart) {
  estimate_ = 2ms;
  run_on_cpu(2048, 360us);
  // Nothing is known of 4096 bits yet, so the CPU runs first.
  run_on_cpu(4096, 4ms);
  EXPECT_TRUE(choice_.is_device_sooner(4096, 1));
  EXPECT_FALSE(choice_.is_device_sooner(2048, 1));
}

}  // namespace
}  // namespace lanecrypt::schedule
