// RSA on one device: batches of operations. Each batch is one launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "batch/batch_engine.h"
#include "batch/device_trust.h"
#include "cpu/random.h"
#include "device/device.h"
#include "job/rsa_job.h"

namespace lanecrypt::runtime {

// `RsaItem` is one operation of a batch. What it points to must stay valid until the batch is over.
struct RsaItem {
  const RsaKey *key;
  const uint8_t *in;
  uint8_t *out;
  // Where the numbers that blind it come from, and its own one of them, drawn by its caller.
  // nullptr: OpenSSL's private generator.
  cpu::SeededRandom *random = nullptr;
  const uint32_t *blind = nullptr;
};

class RsaEngine : public BatchEngine {
 public:
  Started start(BatchKind kind, std::span<const BatchItem> items, ItemResults &results) final;
  // Starts a batch of operations that belong to no request. The engine takes `items`.
  virtual Started start_items(lc_rsa_operation operation, std::vector<RsaItem> items,
                              ItemResults &results) = 0;
};

// Opens the device for RSA only, on the calling thread, and runs the known-answer self-test. An
// error says why the device cannot be used.
Result<std::unique_ptr<RsaEngine>> make_rsa_engine(const device::Found &found,
                                                   const DeviceTrust &trust = {});

}  // namespace lanecrypt::runtime
