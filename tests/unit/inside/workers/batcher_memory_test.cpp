// The batcher and its threads without memory: each of their allocations fails in turn, or all from
// one on. Every request ends, and the process continues. A fake engine is used.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "batch/batch_dispatcher.h"
#include "unit/support/failing_memory.h"

namespace lanecrypt::test {
namespace {

using namespace runtime;

// An operation sets its entry in `done`, which shows whether each was done.
class Request : public BatchRequest {
 public:
  explicit Request(size_t operations) : BatchRequest(operations, nullptr), done(operations) {}
  uint32_t device() const override { return LC_ANY_DEVICE; }
  BatchKind kind_of(uint32_t n) const override { return {n % 3, n % 50 == 7 ? 0u : 1u}; }
  uint32_t bytes_of(uint32_t) const override { return 1; }
  Status run_on_cpu(uint32_t n) override {
    const std::vector<uint8_t> wants_memory(100);
    done[n] = 1;
    return Status();
  }
  std::vector<uint8_t> done;
};

enum class Fault { kNone, kWrongResults, kLost, kLostAtStart, kNoMemory };

class TestBatch : public Batch {
 public:
  TestBatch(std::span<const BatchItem> items, Fault fault) : items_(items), fault_(fault) {}
  bool is_done() override { return true; }
  void abandon() override {}
  Failure finish(ItemResults &results) override {
    const std::vector<uint8_t> wants_memory(100);
    if (fault_ == Fault::kLost)
      return Failure::of_device(
          Status(LC_ERROR_DEVICE, "the device has gone, and will not return"));
    for (size_t n = 0; n < items_.size(); ++n) {
      if (fault_ == Fault::kWrongResults && n % 2 == 0)
        results.mark_wrong(n);
      else
        static_cast<Request &>(*items_[n].request).done[items_[n].number] = 1;
    }
    return Failure();
  }

 private:
  const std::span<const BatchItem> items_;
  const Fault fault_;
};

class TestEngine : public BatchEngine {
 public:
  explicit TestEngine(Fault fault) : fault_(fault) {}
  Started start(BatchKind, std::span<const BatchItem> items, ItemResults &) override {
    ++launches_;
    if (fault_ == Fault::kLostAtStart)
      return Failure::of_device(
          Status(LC_ERROR_DEVICE, "the device has gone, and will not return"));
    if (fault_ == Fault::kNoMemory)
      return Failure::of_memory(Status(LC_ERROR_MEMORY, "the device has no memory for a batch"));
    return std::unique_ptr<Batch>(std::make_unique<TestBatch>(items, fault_));
  }
  uint64_t launches() const override { return launches_; }

 private:
  const Fault fault_;
  uint64_t launches_ = 0;
};

class BatcherWithoutMemory : public testing::TestWithParam<std::tuple<Fault, bool>> {
 protected:
  // Two requests on two devices. Each device may take over what the other leaves.
  static Status run(Fault fault) {
    Counters cpu, counters[2];
    BatchDispatcher dispatcher(
        cpu, LC_FALLBACK_CPU,
        [fault](const device::Found &) -> Result<std::unique_ptr<BatchEngine>> {
          return std::unique_ptr<BatchEngine>(std::make_unique<TestEngine>(fault));
        },
        std::chrono::milliseconds(60000), {.batch_operations = 40, .batches = 2});
    for (Counters &each : counters) dispatcher.add_device(device::Found(), each, true);
    std::vector<std::shared_ptr<Request>> requests;
    for (const size_t operations : {90, 1, 40}) {
      requests.push_back(std::make_shared<Request>(operations));
      EXPECT_TRUE(dispatcher.submit(requests.back()).ok());
    }
    Status worst;
    for (const std::shared_ptr<Request> &request : requests) {
      const Status status = request->wait();
      if (status.ok())
        EXPECT_EQ(request->done.size(), std::count(request->done.begin(), request->done.end(), 1));
      else
        EXPECT_EQ(LC_ERROR_MEMORY, status.code()) << status.text();
      if (!status.ok()) worst = status;
    }
    return worst;
  }
};

TEST_P(BatcherWithoutMemory, EveryRequestEnds) {
  const auto [fault, lasts] = GetParam();
  (void)fail_in_turn([fault = fault] { return run(fault); }, lasts);
}

INSTANTIATE_TEST_SUITE_P(All, BatcherWithoutMemory,
                         testing::Combine(testing::Values(Fault::kNone, Fault::kWrongResults,
                                                          Fault::kLost, Fault::kLostAtStart,
                                                          Fault::kNoMemory),
                                          testing::Bool()));

}  // namespace
}  // namespace lanecrypt::test
