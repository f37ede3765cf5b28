// A batch of SLH-DSA in flight on a device, and what happens to its results.
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

// `SlhSpotChecks` chooses which results of a device the CPU checks. For the device's thread only.
class SlhSpotChecks {
 public:
  explicit SlhSpotChecks(lc_verify verify) : verify_(verify) {}
  // `count` results of a batch, from number `first` on, wrapping around at the end.
  struct Range {
    size_t first, count;
  };
  Range choose(BatchKind kind, size_t operations);
  size_t below(size_t count) { return sampler_.uniform_below(count); }
  // Reports how long the checks of a batch took.
  void took(BatchKind kind, std::chrono::nanoseconds time);

 private:
  using Clock = std::chrono::steady_clock;
  const lc_verify verify_;
  std::map<BatchKind, Clock::time_point> next_;
  verify::RandomSampler sampler_;
};

// Starts a batch in a free slot. `spot_checks` is nullptr if the CPU need not check results.
// `launch`, `slots` and `spot_checks` must outlive the batch. No single item fails here.
BatchEngine::Started start_slh_batch(SlhLaunch &launch, SlhSlots &slots, SlhSpotChecks *spot_checks,
                                     BatchKind kind, std::span<const BatchItem> items);

}  // namespace lanecrypt::runtime
