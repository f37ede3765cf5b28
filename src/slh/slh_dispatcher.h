// Operations of SLH-DSA on all devices and the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batch/batch_dispatcher.h"
#include "slh/slh_engine.h"
#include "slh/slh_request.h"

namespace lanecrypt::runtime {

class SlhDispatcher : public BatchDispatcher {
 public:
  SlhDispatcher(Counters &cpu_counters, lc_fallback fallback, const DeviceTrust &trust)
      : BatchDispatcher(
            cpu_counters, fallback,
            [trust](const device::Found &found) { return make_slh_engine(found, trust); },
            trust.time_limit) {}
};

}  // namespace lanecrypt::runtime
