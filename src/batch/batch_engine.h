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

// A batch under way. Goes before the engine that started it.
class Batch {
 public:
  virtual ~Batch() = default;
  // Whether finish() would return at once.
  virtual bool is_done() = 0;
  // Waits, and writes the outputs of the items that are right. Marks those whose result is wrong,
  // and fails those that the CPU could not check. A failure is of memory or of the device, and of
  // the whole batch: nothing was written.
  virtual Failure finish(ItemResults &results) = 0;
  // Instead of finish(), of a batch that does not end: nothing is written. The
  // device may work on for ever with what it was given, so the engine must stay.
  virtual void abandon() = 0;
};

// Used by one thread: the batcher's.
class BatchEngine {
 public:
  virtual ~BatchEngine() = default;
  // What start() has begun, or why it could not: a failure of memory or of the device. Neither, if
  // every item has failed by itself.
  struct Started {
    Started() = default;
    Started(std::unique_ptr<Batch> its_batch) : batch(std::move(its_batch)) {}
    Started(Failure why) : failure(std::move(why)) {}
    std::unique_ptr<Batch> batch;
    Failure failure;
  };
  // Starts a batch of one kind, of requests of its own family, concurrently with those under way,
  // and returns at once. Items that fail by themselves are noted in `results`, and the rest is
  // launched. The device may copy the inputs later: the items stay until the batch is over.
  virtual Started start(BatchKind kind, std::span<const BatchItem> items, ItemResults &results) = 0;
  // Runs the self-test again, after a wrong result. A failure of the device ends its service; any
  // other says nothing of it.
  virtual Failure prove() { return Failure(); }
  // So many operations of a kind should be a batch where more wait: enough to keep all
  // of the device busy with a few batches, and few enough that the first starts soon.
  virtual size_t best_batch(BatchKind) const { return SIZE_MAX; }
  // How many times the time limit a batch may take; below one where it is small.
  virtual double share_of_limit(BatchKind, size_t) const { return 0; }
  // Something that it was given does not end: it must never go (keep_for_ever()).
  virtual bool is_stuck() const { return false; }
  // Kernels started so far.
  virtual uint64_t launches() const = 0;
};

}  // namespace lanecrypt::runtime
