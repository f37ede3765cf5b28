// The batcher, with a family and an engine of the test in place of a device: what is gathered into
// batches, and what happens if the engine fails.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "batch/batch_dispatcher.h"
#include "thread/job_owner.h"

namespace lanecrypt::runtime {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<uint8_t>;

// The family: an operation adds its key to each byte. Keys of one length share a batch.
struct Key {
  uint32_t bytes;
  uint8_t value;
};
using KeyPointer = std::shared_ptr<const Key>;

KeyPointer make_key(uint32_t bytes, uint8_t value) {
  return std::make_shared<const Key>(Key{bytes, value});
}

struct Message {
  KeyPointer key;
  uint8_t *out;
};

uint8_t input_of(const Key &key) { return uint8_t(key.bytes + 5); }
Bytes expected_of(const Key &key) { return Bytes(key.bytes, uint8_t(input_of(key) + key.value)); }

constexpr uint32_t kAdd = 7, kSubtract = 8;

class Request : public BatchRequest {
 public:
  Request(std::vector<Message> all, Callback on_end)
      : BatchRequest(all.size(), std::move(on_end)), messages(std::move(all)) {}

  std::vector<Message> messages;
  uint32_t wanted_device = LC_ANY_DEVICE;
  uint32_t unfit_bytes = 0;            // no device accepts keys of this length
  mutable std::thread::id counted_by;  // the thread that last called for the bytes of an operation

  uint32_t device() const override { return wanted_device; }
  BatchKind kind_of(uint32_t n) const override {
    const uint32_t bytes = messages[n].key->bytes;
    return {kAdd, bytes == unfit_bytes ? 0 : bytes};
  }
  uint32_t bytes_of(uint32_t n) const override {
    counted_by = std::this_thread::get_id();
    return messages[n].key->bytes;
  }
  Status run_on_cpu(uint32_t n) override {
    run(n);
    return Status();
  }

  void run(uint32_t n) const {
    const Bytes made = expected_of(*messages[n].key);
    std::copy(made.begin(), made.end(), messages[n].out);
  }
};
using RequestPointer = std::shared_ptr<Request>;

const Request &request_of(const BatchItem &item) {
  return static_cast<const Request &>(*item.request);
}

// What the engine has done, and how it must behave.
struct Plan {
  std::mutex mutex;
  std::vector<size_t> batches;
  std::vector<size_t> keys_in_batch;
  size_t most_at_once = 0, at_once = 0;
  std::atomic<size_t> finished{0};  // operations
  std::set<std::thread::id> threads;
  std::atomic<int> slow_ms{0};
  std::atomic<int> lost_after{1 << 30};  // number of batches before it is lost
  std::atomic<bool> refuses{false}, every_third_is_wrong{false}, throws{false},
      throws_at_end{false};
  std::atomic<int> abandoned{0};
  // Values of keys that fail by themselves. All other keys of the tests have smaller values.
  std::atomic<int> key_that_fails{-1}, key_that_fails_at_end{-1};
  std::atomic<int> proofs{0};
  Status proof;  // the result of the next self-test
  // These callbacks decide when a batch may end, and what happens while it starts, so that the
  // tests do not depend on the order in which a busy machine runs its threads. Set them while
  // nothing is pending. They are called on the batcher's thread.
  std::function<bool()> may_end;
  std::function<void()> on_stuck;  // the next batch does not end
};

class TestBatch : public Batch {
 public:
  TestBatch(Plan &plan, std::span<const BatchItem> items, bool lost, bool stuck)
      : plan_(plan),
        items_(items),
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
  Failure finish(ItemResults &results) override {
    std::this_thread::sleep_until(ready_);
    {
      const std::lock_guard lock(plan_.mutex);
      --plan_.at_once;
    }
    plan_.finished += items_.size();
    if (plan_.throws_at_end) throw std::bad_alloc();
    if (lost_) return Failure::of_device(Status(LC_ERROR_DEVICE, "lost"));
    for (size_t n = 0; n < items_.size(); ++n) {
      if (plan_.every_third_is_wrong && n % 3 == 0) results.mark_wrong(n);
      const Message &message = request_of(items_[n]).messages[items_[n].number];
      if (message.key->value == plan_.key_that_fails_at_end)
        results.fail(n, Failure::of_item(Status(LC_ERROR_INTERNAL, "the item's own")));
      if (!results.is_right(n)) continue;
      request_of(items_[n]).run(items_[n].number);
    }
    return Failure();
  }

 private:
  Plan &plan_;
  std::span<const BatchItem> items_;
  bool lost_, is_stuck_;
  std::chrono::steady_clock::time_point ready_;
};

class TestEngine : public BatchEngine {
 public:
  explicit TestEngine(Plan &plan) : plan_(plan) {}
  Started start(BatchKind kind, std::span<const BatchItem> items, ItemResults &results) override {
    const std::function<void()> on_stuck = std::exchange(plan_.on_stuck, nullptr);
    if (on_stuck != nullptr) on_stuck();
    const std::lock_guard lock(plan_.mutex);
    if (plan_.throws) throw std::bad_alloc();
    if (plan_.refuses) return Failure::of_memory(Status(LC_ERROR_MEMORY, "no memory"));
    std::set<const Key *> keys;
    for (size_t n = 0; n < items.size(); ++n)
      if (request_of(items[n]).messages[items[n].number].key->value == plan_.key_that_fails)
        results.fail(n, Failure::of_item(Status(LC_ERROR_ARGUMENT, "the item's own")));
    if (!results.has_any_right()) return Started();
    for (const BatchItem &item : items) {
      EXPECT_EQ(kind, request_of(item).kind_of(item.number));
      keys.insert(request_of(item).messages[item.number].key.get());
    }
    plan_.batches.push_back(items.size());
    plan_.keys_in_batch.push_back(keys.size());
    plan_.most_at_once = std::max(plan_.most_at_once, ++plan_.at_once);
    plan_.threads.insert(std::this_thread::get_id());
    return std::unique_ptr<Batch>(std::make_unique<TestBatch>(
        plan_, items, int(plan_.batches.size()) > plan_.lost_after, on_stuck != nullptr));
  }
  Failure prove() override {
    ++plan_.proofs;
    EXPECT_TRUE(plan_.threads.count(std::this_thread::get_id()) == 1);
    return Failure::of_self_test(plan_.proof);
  }
  uint64_t launches() const override { return plan_.batches.size(); }
  bool is_stuck() const override { return plan_.abandoned > 0; }

 private:
  Plan &plan_;
};

class BatcherTest : public testing::Test {
 protected:
  // `time` is the time limit of the batcher. The default is a minute: only a hang takes so long.
  explicit BatcherTest(std::chrono::milliseconds time = 60s) : time_(time) {}
  RequestPointer make_request(const std::vector<KeyPointer> &keys, size_t messages,
                              std::vector<Bytes> *outputs, Completion::Callback on_end = nullptr) {
    std::vector<Message> all;
    outputs->resize(messages);
    for (size_t n = 0; n < messages; ++n) {
      const KeyPointer &key = keys[n % keys.size()];
      (*outputs)[n].assign(key->bytes, 0xA5);
      all.push_back({key, (*outputs)[n].data()});
    }
    return std::make_shared<Request>(std::move(all), std::move(on_end));
  }
  void expect_right(const Request &request, const std::vector<Bytes> &outputs) {
    for (size_t n = 0; n < outputs.size(); ++n)
      ASSERT_EQ(expected_of(*request.messages[n].key), outputs[n]) << n;
  }
  bool submit(const RequestPointer &request) { return batcher_.submit(request); }

  const std::chrono::milliseconds time_;
  Plan plan_;
  Counters counters_;
  // Counts the requests that are handed back. The test does their work, as the CPU would.
  std::atomic<int> handed_back_{0};
  Batcher batcher_{
      [this]() -> Result<std::unique_ptr<BatchEngine>> {
        if (plan_.throws) throw std::bad_alloc();
        if (plan_.lost_after < 0) return Status(LC_ERROR_NO_DEVICE, "does not open");
        return std::unique_ptr<BatchEngine>(std::make_unique<TestEngine>(plan_));
      },
      counters_,
      [this](const BatchRequestPointer &request, const Status &) {
        ++handed_back_;
        for (const uint32_t n : request->todo) {
          (void)request->run_on_cpu(n);
          ++request->result.cpu_operations;
        }
        request->end();
      },
      {.batch_operations = 100, .batches = 2, .waiting_operations = 1000, .time = time_}};
};

TEST_F(BatcherTest, ThreadsShareBatchesWithKeysMixed) {
  // A batch ends only when all callers wait. The batcher's load does not show that: it includes
  // callers whose operation is over but that were not notified yet.
  std::atomic<size_t> callers{64}, submitted{0};
  plan_.may_end = [&] { return submitted - plan_.finished >= callers; };
  // One kind has more operations, so that enough come for a batch while one of the other kind runs.
  std::vector<KeyPointer> keys;
  for (uint8_t n = 0; n < 4; ++n) keys.push_back(make_key(n < 3 ? 64 : 128, n));
  const auto call_ten_times = [&](size_t first) {
    for (size_t call = first; call < first + 10; ++call) {
      std::vector<Bytes> outputs;
      const RequestPointer request = make_request({keys[call % keys.size()]}, 1, &outputs);
      ASSERT_TRUE(submit(request));
      ++submitted;
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
  // There were far fewer batches than operations, with several keys in a batch and two concurrent
  // batches, all on one thread.
  EXPECT_LT(plan_.batches.size(), 200u);
  EXPECT_EQ(3u, *std::max_element(plan_.keys_in_batch.begin(), plan_.keys_in_batch.end()));
  EXPECT_EQ(2u, plan_.most_at_once);
  EXPECT_EQ(1u, plan_.threads.size());
}

TEST_F(BatcherTest, AnIdleDeviceStartsAtOnce) {
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 1, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ(std::vector<size_t>{1}, plan_.batches);
}

// A caller that waits for one operation is woken directly by the device's thread, without another
// thread in between. A callback, which may take long, and results that must be computed again do
// not run on that thread, so that the device does not wait for them.
TEST_F(BatcherTest, WhoWaitsAloneIsWokenByTheDevicesThread) {
  std::vector<Bytes> outputs;
  const auto thread_of = [&](size_t operations, const Completion::Callback &on_end) {
    const RequestPointer request = make_request({make_key(64, 1)}, operations, &outputs, on_end);
    EXPECT_TRUE(submit(request));
    EXPECT_TRUE(request->wait().ok());
    expect_right(*request, outputs);
    EXPECT_EQ(operations, request->result.device_operations + request->result.cpu_operations);
    return request->counted_by;
  };
  const std::thread::id told_by = thread_of(1, nullptr);
  EXPECT_EQ(std::set<std::thread::id>{told_by}, plan_.threads);
  EXPECT_EQ(told_by, thread_of(1, nullptr));
  EXPECT_NE(told_by, thread_of(2, nullptr));
  EXPECT_NE(told_by, thread_of(1, [](const Status &, const lc_result &) {}));
  plan_.every_third_is_wrong = true;
  EXPECT_NE(told_by, thread_of(1, nullptr));
  EXPECT_EQ(1u, counters_.failures);
  EXPECT_EQ(0u, batcher_.load());
}

// A single operation that is about to end is polled without sleeping, and others still start
// meanwhile.
TEST_F(BatcherTest, ALoneOperationThatIsWatchedKeepsNobodyWaiting) {
  std::vector<Bytes> outputs[3];
  const RequestPointer usual = make_request({make_key(64, 1)}, 1, &outputs[0]);
  ASSERT_TRUE(submit(usual));
  EXPECT_TRUE(usual->wait().ok());
  plan_.may_end = [&] { return plan_.batches.size() == 3; };
  const RequestPointer lone = make_request({make_key(64, 2)}, 1, &outputs[1]),
                       other = make_request({make_key(64, 3)}, 1, &outputs[2]);
  ASSERT_TRUE(submit(lone));
  const auto has_started = [&] {
    const std::lock_guard lock(plan_.mutex);
    return plan_.batches.size() == 2;
  };
  while (!has_started()) std::this_thread::yield();
  ASSERT_TRUE(submit(other));
  EXPECT_TRUE(lone->wait().ok());
  EXPECT_TRUE(other->wait().ok());
  expect_right(*lone, outputs[1]);
  expect_right(*other, outputs[2]);
}

TEST_F(BatcherTest, ALargeRequestIsCutAndKindsAreKeptApart) {
  std::vector<Bytes> outputs;
  const RequestPointer request =
      make_request({make_key(64, 1), make_key(128, 2), make_key(64, 3)}, 1000, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_EQ(1000u, request->result.device_operations);
  for (const size_t batch : plan_.batches) EXPECT_LE(batch, 100u);
  for (const size_t keys : plan_.keys_in_batch) EXPECT_LE(keys, 2u);
}

// The rest of a large request starts at once, although it is too small for a batch of its own.
TEST_F(BatcherTest, WhatIsLeftOfALargeRequestWaitsForNobody) {
  const auto give_up = std::chrono::steady_clock::now() + 10s;
  plan_.may_end = [&] {
    return plan_.most_at_once == 2 || std::chrono::steady_clock::now() >= give_up;
  };
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 130, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ((std::vector<size_t>{100, 30}), plan_.batches);
  EXPECT_EQ(2u, plan_.most_at_once);
}

TEST_F(BatcherTest, WrongResultsAreMadeAgain) {
  plan_.every_third_is_wrong = true;
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 90, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_GE(request->result.failed_checks, 30u);
  EXPECT_EQ(request->result.failed_checks, request->result.cpu_operations);
  EXPECT_EQ(90u, request->result.cpu_operations + request->result.device_operations);
  EXPECT_EQ(request->result.failed_checks, counters_.failures);
}

// One operation of a batch fails by itself, at the start or at the end.
TEST_F(BatcherTest, AnOperationThatFailsByItselfEndsAlone) {
  for (const bool at_end : {false, true}) {
    (at_end ? plan_.key_that_fails_at_end : plan_.key_that_fails) = 100;
    const size_t before = plan_.batches.size();
    std::atomic<bool> is_held{true};
    plan_.may_end = [&] { return !is_held; };
    std::vector<std::vector<Bytes>> outputs(5);
    // Two batches are running at once, so the other requests share the third.
    std::vector<RequestPointer> first;
    for (int n = 0; n < 2; ++n) {
      first.push_back(make_request({make_key(64, 1)}, 100, &outputs[size_t(n)]));
      ASSERT_TRUE(submit(first.back()));
    }
    const RequestPointer good = make_request({make_key(64, 1)}, 3, &outputs[2]),
                         bad = make_request({make_key(64, 100)}, 1, &outputs[3]),
                         mixed = make_request({make_key(64, 2), make_key(64, 100)}, 4, &outputs[4]);
    for (const RequestPointer &request : {good, bad, mixed}) ASSERT_TRUE(submit(request));
    is_held = false;
    for (const RequestPointer &request : first) EXPECT_TRUE(request->wait().ok());
    EXPECT_TRUE(good->wait().ok());
    expect_right(*good, outputs[2]);
    EXPECT_EQ(3u, good->result.device_operations);
    for (const RequestPointer &request : {bad, mixed}) {
      const Status status = request->wait();
      EXPECT_EQ(at_end ? LC_ERROR_INTERNAL : LC_ERROR_ARGUMENT, status.code());
      EXPECT_EQ("the item's own", status.text());
    }
    for (const size_t n : {0, 2})
      EXPECT_EQ(expected_of(*mixed->messages[n].key), outputs[4][n]) << "the rest is done";
    EXPECT_EQ(Bytes(64, 0xA5), outputs[3][0]) << "nothing is written";
    EXPECT_EQ(before + 3, plan_.batches.size());
    // A request with only the failing key starts no batch.
    std::vector<Bytes> alone;
    const RequestPointer last = make_request({make_key(64, 100)}, 1, &alone);
    ASSERT_TRUE(submit(last));
    EXPECT_FALSE(last->wait().ok());
  }
  EXPECT_EQ(0, handed_back_);
  EXPECT_EQ(0u, counters_.failures);
  EXPECT_TRUE(batcher_.may_work());
  EXPECT_EQ(0u, batcher_.load());
}

// Waits until the device's thread has run the self-test `count` times.
void await_proofs(const Plan &plan, int count) {
  while (plan.proofs < count) std::this_thread::yield();
}

TEST_F(BatcherTest, AWrongResultHasTheDeviceProveItself) {
  std::vector<Bytes> outputs;
  const auto ask = [&] {
    const RequestPointer request = make_request({make_key(64, 1)}, 1, &outputs);
    EXPECT_TRUE(submit(request));
    EXPECT_TRUE(request->wait().ok());
    expect_right(*request, outputs);
  };
  plan_.every_third_is_wrong = true;
  // The self-test passes.
  ask();
  await_proofs(plan_, 1);
  plan_.every_third_is_wrong = false;
  ask();
  EXPECT_TRUE(batcher_.may_work());
  EXPECT_EQ(1u, counters_.failures);
}

TEST_F(BatcherTest, AProofThatCouldNotRunSaysNothing) {
  plan_.every_third_is_wrong = true;
  plan_.proof = Status(LC_ERROR_MEMORY, "no memory for the self-test");
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 1, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  await_proofs(plan_, 1);
  plan_.every_third_is_wrong = false;
  const RequestPointer next = make_request({make_key(64, 1)}, 1, &outputs);
  ASSERT_TRUE(submit(next));
  EXPECT_TRUE(next->wait().ok());
  EXPECT_EQ(1u, next->result.device_operations);
}

TEST_F(BatcherTest, ADeviceThatFailsItsProofIsLost) {
  plan_.every_third_is_wrong = true;
  plan_.proof = Status(LC_ERROR_SELF_TEST, "wrong again");
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 1, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  while (batcher_.may_work()) std::this_thread::yield();
  EXPECT_EQ(LC_DEVICE_LOST, batcher_.service().state);
  EXPECT_EQ("wrong again", batcher_.service().reason);
}

// With a key for which the CPU's result is wrong too, no device is to blame.
TEST_F(BatcherTest, AKeyAtFaultIsNotTheDevices) {
  struct Faulty : Request {
    using Request::Request;
    Repaired repair_on_cpu(uint32_t) override {
      return {Repaired::Fault::kKey, Status(LC_ERROR_ARGUMENT, "the key is at fault")};
    }
  };
  plan_.every_third_is_wrong = true;
  Bytes output(64, 0xA5);
  const auto request =
      std::make_shared<Faulty>(std::vector<Message>{{make_key(64, 1), output.data()}}, nullptr);
  ASSERT_TRUE(submit(request));
  EXPECT_EQ("the key is at fault", request->wait().text());
  EXPECT_EQ(Bytes(64, 0xA5), output);
  EXPECT_EQ(0u, counters_.failures);
  EXPECT_EQ(0, plan_.proofs);
  EXPECT_TRUE(batcher_.may_work());
}

// While the CPU computes results again, for as long as this test likes, other callers get theirs.
TEST_F(BatcherTest, NobodyWaitsForTheRepairsOfOthers) {
  struct Slow : Request {
    using Request::Request;
    Repaired repair_on_cpu(uint32_t n) override {
      while (is_held) std::this_thread::yield();
      return Request::repair_on_cpu(n);
    }
    std::atomic<bool> is_held{true};
  };
  plan_.every_third_is_wrong = true;
  std::vector<Bytes> bytes(50, Bytes(64, 0xA5));
  std::vector<Message> messages;
  for (Bytes &each : bytes) messages.push_back({make_key(64, 1), each.data()});
  const auto slow = std::make_shared<Slow>(std::move(messages), nullptr);
  ASSERT_TRUE(submit(slow));
  while (plan_.finished < 50) std::this_thread::yield();
  plan_.every_third_is_wrong = false;
  for (int n = 0; n < 100; ++n) {
    std::vector<Bytes> outputs;
    const RequestPointer request = make_request({make_key(64, 1)}, 2, &outputs);
    ASSERT_TRUE(submit(request));
    EXPECT_TRUE(request->wait().ok());
    expect_right(*request, outputs);
  }
  Status status;
  EXPECT_FALSE(slow->ended(&status));
  slow->is_held = false;
  EXPECT_TRUE(slow->wait().ok());
  expect_right(*slow, bytes);
}

TEST(RepairsTest, OwnersTakeTurns) {
  constexpr size_t kOfFirst = 40, kMostThreads = 4;
  std::atomic<bool> is_held{true};
  std::mutex mutex;
  std::vector<uint64_t> order;
  Repairs repairs([&](const BatchItem &item) {
    while (is_held) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    order.push_back(item.request->owner);
  });
  const auto add = [&](uint64_t owner, size_t count) {
    const JobOwner scope(owner);
    const auto request = std::make_shared<Request>(std::vector<Message>(count), nullptr);
    for (uint32_t n = 0; n < count; ++n) repairs.add({request, n});
  };
  add(1, kOfFirst);
  add(2, 1);
  add(3, 2);
  is_held = false;
  repairs.stop();
  ASSERT_EQ(kOfFirst + 3, order.size());
  // Work that had begun comes first, and then one item of each owner.
  const auto place_of = [&](uint64_t owner) {
    return size_t(std::find(order.begin(), order.end(), owner) - order.begin());
  };
  EXPECT_LE(place_of(2), 2 * kMostThreads + 2);
  EXPECT_LE(place_of(3), 2 * kMostThreads + 3);
  EXPECT_EQ(1u, order.back());
}

TEST_F(BatcherTest, WhatADeviceLosesIsHandedBack) {
  plan_.slow_ms = 3;
  plan_.lost_after = 2;
  std::vector<std::vector<Bytes>> outputs(50);
  std::vector<RequestPointer> requests;
  for (std::vector<Bytes> &each : outputs)
    requests.push_back(make_request({make_key(64, 1), make_key(128, 2)}, 20, &each));
  for (const RequestPointer &request : requests)
    if (!submit(request)) {
      // The device was lost before that: nothing of the request was touched.
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

// One of two running batches does not end. The other does, and its results are kept.
TEST_F(StuckBatcherTest, WhatIsStuckIsGivenUp) {
  std::vector<Bytes> outputs[3];
  const RequestPointer right = make_request({make_key(64, 1)}, 40, &outputs[0]);
  ASSERT_TRUE(submit(right));
  EXPECT_TRUE(right->wait().ok());
  const RequestPointer stuck = make_request({make_key(64, 1)}, 40, &outputs[1]);
  const RequestPointer behind = make_request({make_key(128, 2)}, 40, &outputs[2]);
  // The next request arrives in time, however long this thread does not run.
  plan_.on_stuck = [&] { EXPECT_TRUE(submit(behind)); };
  ASSERT_TRUE(submit(stuck));
  for (const RequestPointer &request : {stuck, behind}) EXPECT_TRUE(request->wait().ok());
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

// A batch that ends while the batcher's thread does not run counts as in time.
TEST_F(StuckBatcherTest, WhoLooksLateFindsNothingStuck) {
  int looks = 0;
  plan_.may_end = [&] {
    const bool ended = looks++ != 0;
    if (!ended) std::this_thread::sleep_for(300ms);  // longer than the time limit
    return ended;
  };
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 3, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ(3u, request->result.device_operations);
  EXPECT_TRUE(batcher_.may_work());
  EXPECT_EQ(0u, counters_.failures);
}

TEST_F(BatcherTest, ADeviceThatDoesNotOpenHandsBack) {
  plan_.lost_after = -1;
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 3, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_EQ(3u, request->result.cpu_operations);
  EXPECT_FALSE(batcher_.may_work());
}

// An exception on the batcher's thread would end the process.
TEST_F(BatcherTest, WantOfMemoryEndsNoProcess) {
  plan_.throws = true;
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 3, &outputs);
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_EQ(3u, request->result.cpu_operations);
  EXPECT_FALSE(batcher_.may_work());
}

TEST_F(BatcherTest, WantOfMemoryForABatchPasses) {
  std::vector<Bytes> outputs[3];
  for (int n = 0; n < 3; ++n) {
    plan_.throws = n == 1;
    const RequestPointer request = make_request({make_key(64, 1)}, 3, &outputs[n]);
    ASSERT_TRUE(submit(request));
    EXPECT_TRUE(request->wait().ok());
    expect_right(*request, outputs[n]);
    EXPECT_EQ(n == 1 ? 3u : 0u, request->result.cpu_operations);
  }
}

TEST_F(BatcherTest, WantOfMemoryAtTheEndOfABatchPasses) {
  std::vector<Bytes> outputs[3];
  for (int n = 0; n < 3; ++n) {
    plan_.throws_at_end = n == 1;
    const RequestPointer request = make_request({make_key(64, 1)}, 3, &outputs[n]);
    ASSERT_TRUE(submit(request));
    EXPECT_TRUE(request->wait().ok());
    expect_right(*request, outputs[n]);
    EXPECT_EQ(n == 1 ? 3u : 0u, request->result.cpu_operations);
  }
}

// Code on a CPU core may throw too.
TEST(BatchCpuTest, WantOfMemoryEndsTheJobAlone) {
  struct Greedy : BatchRequest {
    explicit Greedy(bool *was_withdrawn) : BatchRequest(2, nullptr), withdrawn(was_withdrawn) {}
    uint32_t device() const override { return LC_CPU; }
    BatchKind kind_of(uint32_t) const override { return {0, 1}; }
    uint32_t bytes_of(uint32_t) const override { return 1; }
    Status run_on_cpu(uint32_t) override { throw std::bad_alloc(); }
    void withdraw_results() override { *withdrawn = true; }
    bool *const withdrawn;
  };
  Counters counters;
  BatchCpu cpu(counters);
  bool was_withdrawn = false;
  const auto request = std::make_shared<Greedy>(&was_withdrawn);
  cpu.submit(request);
  EXPECT_EQ(LC_ERROR_MEMORY, request->wait().code());
  EXPECT_TRUE(was_withdrawn);
}

TEST_F(BatcherTest, WantOfMemoryPasses) {
  plan_.refuses = true;
  std::vector<Bytes> outputs[2];
  const RequestPointer first = make_request({make_key(64, 1)}, 3, &outputs[0]);
  ASSERT_TRUE(submit(first));
  EXPECT_TRUE(first->wait().ok());
  EXPECT_EQ(3u, first->result.cpu_operations);
  plan_.refuses = false;
  const RequestPointer second = make_request({make_key(64, 1)}, 3, &outputs[1]);
  ASSERT_TRUE(submit(second));
  EXPECT_TRUE(second->wait().ok());
  EXPECT_EQ(3u, second->result.device_operations);
}

TEST_F(BatcherTest, KeysThatNoDeviceTakesAreHandedBackInTheEnd) {
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1), make_key(128, 2)}, 10, &outputs);
  request->unfit_bytes = 64;
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  expect_right(*request, outputs);
  EXPECT_EQ(5u, request->result.device_operations);
  EXPECT_EQ(5u, request->result.cpu_operations);
}

TEST_F(BatcherTest, CallersMayGoAndStopFinishesWhatWaits) {
  plan_.slow_ms = 5;
  std::atomic<int> ended{0};
  std::vector<std::vector<Bytes>> outputs(300);
  const KeyPointer key = make_key(64, 1);
  for (std::vector<Bytes> &each : outputs)
    ASSERT_TRUE(
        submit(make_request({key}, 1, &each, [&](const Status &, const lc_result &) { ++ended; })));
  batcher_.stop();
  EXPECT_EQ(300, ended);
  std::vector<Bytes> late;
  EXPECT_FALSE(submit(make_request({key}, 1, &late)));
}

TEST_F(BatcherTest, EstimatesByWhatBatchesTook) {
  plan_.slow_ms = 20;
  const auto estimate = [&] { return batcher_.estimate({kAdd, 64}, 7ms); };
  EXPECT_EQ(7ms, estimate());
  std::vector<Bytes> outputs;
  const RequestPointer request = make_request({make_key(64, 1)}, 1, &outputs);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(submit(request));
  EXPECT_TRUE(request->wait().ok());
  EXPECT_GE(estimate(), 20ms);
  EXPECT_LE(estimate(), std::chrono::steady_clock::now() - begin);
  EXPECT_EQ(7ms, batcher_.estimate({kSubtract, 64}, 7ms));
  EXPECT_TRUE(batcher_.has_room());
}

// ---- The dispatcher ----------------------------------------------------------

// A device with a queue for four operations. None of them ends before all are in it.
class FullQueueTest : public BatcherTest {
 protected:
  void open(lc_fallback fallback) {
    dispatcher_ = std::make_unique<BatchDispatcher>(
        of_cpu_, fallback,
        [this](const device::Found &) -> Result<std::unique_ptr<BatchEngine>> {
          return std::unique_ptr<BatchEngine>(std::make_unique<TestEngine>(plan_));
        },
        60s, Batcher::Limits{.batch_operations = 2, .batches = 1, .waiting_operations = 4});
    dispatcher_->add_device({}, of_device_, true);
    plan_.may_end = [this] { return !is_held_; };
  }
  // Runs `count` requests of one operation. Returns how many ran on a device.
  size_t on_device(size_t count, uint32_t device) {
    std::vector<std::vector<Bytes>> outputs(count);
    std::vector<RequestPointer> requests;
    is_held_ = true;
    for (std::vector<Bytes> &each : outputs) {
      requests.push_back(make_request({key_}, 1, &each));
      requests.back()->wanted_device = device;
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
  const KeyPointer key_ = make_key(128, 1);
  std::unique_ptr<BatchDispatcher> dispatcher_;
};

TEST_F(FullQueueTest, TheCpuTakesWhatComes) {
  open(LC_FALLBACK_CPU);
  // Four operations are in the device's queue. Two of these are running.
  EXPECT_EQ(4u, on_device(12, LC_ANY_DEVICE));
  EXPECT_EQ(8u, of_cpu_.operations);
  EXPECT_EQ(4u, on_device(4, LC_ANY_DEVICE)) << "there is room again";
}

TEST_F(FullQueueTest, WhoWantsADeviceWaitsForIt) {
  open(LC_FALLBACK_CPU);
  EXPECT_EQ(8u, on_device(8, 0)) << "the device was named";
  open(LC_FALLBACK_NONE);
  EXPECT_EQ(8u, on_device(8, LC_ANY_DEVICE)) << "there is nothing else";
  // A large request is accepted as a whole.
  open(LC_FALLBACK_CPU);
  std::vector<Bytes> outputs;
  const RequestPointer large = make_request({key_}, 10, &outputs);
  large->wanted_device = LC_ANY_DEVICE;
  ASSERT_TRUE(dispatcher_->submit(large).ok());
  EXPECT_TRUE(large->wait().ok());
  EXPECT_EQ(10u, large->result.device_operations);
}

}  // namespace
}  // namespace lanecrypt::runtime
