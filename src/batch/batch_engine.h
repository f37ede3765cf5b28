// A family's operations on one device, as the batcher sees them: batches that run in one
// launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "batch/batch_request.h"
#include "batch/failure.h"
#include "batch/item_results.h"

namespace lanecrypt::runtime {

// A batch under way. It must be destroyed before the engine that started it.
class Batch {
 public:
  virtual ~Batch() = default;
  // Whether finish() would return at once.
  virtual bool is_done() = 0;
  // Waits, and writes the outputs of the items whose results are right. In `results` it marks the
  // items whose results are wrong, and fails those that the CPU could not check. If it returns a
  // failure, of memory or of the device, the whole batch has failed and nothing was written.
  virtual Failure finish(ItemResults &results) = 0;
  // Called instead of finish() if the batch does not end. Nothing is written. The device may still
  // use the memory of the batch, so the engine must never be destroyed (keep_for_ever()).
  virtual void abandon() = 0;
};

// Used by one thread: the batcher's.
class BatchEngine {
 public:
  virtual ~BatchEngine() = default;
  // What start() returns: the batch that it has begun, or a failure of memory or of the device, or
  // neither. It is neither if every item has failed by itself, so that nothing was launched.
  struct Started {
    Started() = default;
    Started(std::unique_ptr<Batch> its_batch) : batch(std::move(its_batch)) {}
    Started(Failure why) : failure(std::move(why)) {}
    std::unique_ptr<Batch> batch;
    Failure failure;
  };
  // Starts a batch of items of one kind, concurrently with the batches under way, and returns at
  // once. All items belong to the engine's family. It notes items that fail by themselves in
  // `results`, and launches the rest. The device may copy the inputs later, so the caller keeps
  // `items` valid until the batch is over.
  virtual Started start(BatchKind kind, std::span<const BatchItem> items, ItemResults &results) = 0;
  // Runs the self-test again, after a wrong result. After a failure of the device, the device is
  // not used any more. Any other failure says nothing about the device.
  virtual Failure prove() { return Failure(); }
  // The number of operations of a kind that a batch should have if more wait: enough to keep all of
  // the device busy with a few batches, and few enough that the first batch starts soon.
  virtual size_t best_batch(BatchKind) const { return SIZE_MAX; }
  // The time that such a batch may take, as a multiple of the time limit; below 1 for a small
  // batch. The batcher adds the values of the batches under way, and allows at least one time
  // limit.
  virtual double share_of_limit(BatchKind, size_t) const { return 0; }
  // Whether work that the device was given does not end. Then the engine must never be destroyed
  // (keep_for_ever()).
  virtual bool is_stuck() const { return false; }
  // Kernels started so far.
  virtual uint64_t launches() const = 0;
};

}  // namespace lanecrypt::runtime
