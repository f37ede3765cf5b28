// ML-DSA on one device: batches of operations. Each batch is one launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "batch/batch_engine.h"
#include "batch/device_trust.h"
#include "device/device.h"
#include "ml_dsa/ml_dsa_request.h"

namespace lanecrypt::runtime {

class MlDsaEngine : public BatchEngine {
 public:
  Started start(BatchKind kind, std::span<const BatchItem> items, ItemResults &results) final;
  // Starts a batch of operations that belong to no request. The engine takes `items`.
  virtual Started start_items(lc_ml_dsa_operation operation, const MlDsaSizes &sizes,
                              std::vector<MlDsaItem> items) = 0;
};

// Opens the device for ML-DSA only, on the calling thread, and runs the known-answer self-test. An
// error says why the device cannot be used.
Result<std::unique_ptr<MlDsaEngine>> make_ml_dsa_engine(const device::Found &found,
                                                        const DeviceTrust &trust = {});

}  // namespace lanecrypt::runtime
