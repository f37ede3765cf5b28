// A family's operations on one device, as the batcher sees them: batches that run in one
// launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "batch/batch_request.h"
#include "job/status.h"

namespace lanecrypt::runtime {

// A batch under way. Goes before the engine that started it.
class Batch {
 public:
  virtual ~Batch() = default;
  // Whether finish() would return at once.
  virtual bool is_done() = 0;
  // Waits, and writes the outputs. Sets right[n], which begins as 1, to 0 where
  // the result of item n failed its check; its output is then not written. An
  // error is of the whole batch: nothing was written.
  virtual Status finish(std::span<uint8_t> right) = 0;
  // Instead of finish(), of a batch that does not end: nothing is written. The
  // device may work on for ever with what it was given, so the engine must stay.
  virtual void abandon() = 0;
};

// Used by one thread: the batcher's.
class BatchEngine {
 public:
  virtual ~BatchEngine() = default;
  // Starts a batch of one kind, of requests of its own family, beside those under way, and
  // returns at once. The device may copy the inputs later: the items stay until it is over.
  virtual Result<std::unique_ptr<Batch>> start(BatchKind kind,
                                               std::span<const BatchItem> items) = 0;
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
