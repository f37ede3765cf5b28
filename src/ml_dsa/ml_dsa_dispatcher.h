// ML-DSA on all devices and the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batch/batch_dispatcher.h"
#include "ml_dsa/ml_dsa_engine.h"
#include "ml_dsa/ml_dsa_request.h"

namespace lanecrypt::runtime {

class MlDsaDispatcher : public BatchDispatcher {
  // A batch ends with its last signature. The more signatures a batch has, the more rounds of the
  // rejection loop the last one takes. So ML-DSA uses more and smaller batches than other families.
  static constexpr size_t kBatches = 10;

 public:
  MlDsaDispatcher(Counters &cpu_counters, lc_fallback fallback, const DeviceTrust &trust)
      : BatchDispatcher(
            cpu_counters, fallback,
            [trust](const device::Found &found) -> Result<std::unique_ptr<BatchEngine>> {
              Result<std::unique_ptr<MlDsaEngine>> engine = make_ml_dsa_engine(found, trust);
              if (!engine.ok()) return engine.status();
              return std::unique_ptr<BatchEngine>(std::move(*engine));
            },
            trust.time_limit, {.batches = kBatches}) {}
};

}  // namespace lanecrypt::runtime
