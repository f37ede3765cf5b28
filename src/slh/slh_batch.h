// A batch of SLH-DSA under way on a device: what becomes of its results.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "batch/batch_engine.h"
#include "batch/device_trust.h"
#include "batch/stream_slots.h"
#include "slh/slh_launch.h"
#include "slh/slh_request.h"
#include "verify/random_sampler.h"

namespace lanecrypt::runtime {

using SlhSlots = StreamSlots<SlhWorkspace>;

// Chooses which results of a device the CPU computes again.
class SlhSpotChecks {
 public:
  explicit SlhSpotChecks(lc_verify verify) : verify_(verify) {}
  // So many results of a batch, from the number `first` on, in a circle.
  struct Range {
    size_t first, count;
  };
  Range choose(BatchKind kind, size_t operations);
  size_t below(size_t count) { return sampler_.uniform_below(count); }
  // They took so long.
  void took(BatchKind kind, std::chrono::nanoseconds time);

 private:
  using Clock = std::chrono::steady_clock;
  const lc_verify verify_;
  std::map<BatchKind, Clock::time_point> next_;
  verify::RandomSampler sampler_;
};

// Starts the batch in a free slot. spot_checks: nullptr where the CPU need not look. The launch,
// the slots and the spot_checks stay longer than the batch. No item fails by itself.
BatchEngine::Started start_slh_batch(SlhLaunch &launch, SlhSlots &slots, SlhSpotChecks *spot_checks,
                                     BatchKind kind, std::span<const BatchItem> items);

}  // namespace lanecrypt::runtime
