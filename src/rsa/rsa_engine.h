// RSA on one device: batches of operations that run in one launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "batch/batch_engine.h"
#include "device/device.h"
#include "job/rsa_job.h"

namespace lanecrypt::schedule {

// One operation of a batch. What it points to stays until the batch is over.
struct RsaItem {
  const RsaKey *key;
  const uint8_t *in;
  uint8_t *out;
};

class RsaEngine : public BatchEngine {
 public:
  Result<std::unique_ptr<Batch>> start(BatchKind kind, std::span<const BatchItem> items) final;
  // The same of operations that are of no request.
  virtual Result<std::unique_ptr<Batch>> start_items(lc_rsa_operation operation,
                                                     std::vector<RsaItem> items) = 0;
};

// How far a device is trusted.
struct RsaTrust {
  // What of its results the CPU computes back, besides their check on the device: all
  // with LC_VERIFY_FULL, else one of each batch, and of the first of each kind more.
  lc_verify verify = LC_VERIFY_SAMPLED;
  // Of what must end for the device not to be stuck; 0: default_time_limit().
  std::chrono::milliseconds time_limit{0};
  // For tests of what comes after it.
  bool skip_self_test = false;
};

// A number that operations have in common which one launch can take together;
// 0 where no device takes the key.
using RsaKind = uint32_t;
// It is the size of a BatchKind, whose operation is an lc_rsa_operation.
RsaKind rsa_kind(const RsaKey &key, lc_rsa_operation operation);
// The same of a private key of two equal primes of which only the length is known.
RsaKind rsa_kind(uint32_t modulus_bits);

// Opens the device for RSA alone, on the calling thread, and has it answer what
// is known. An error says why it cannot be used.
Result<std::unique_ptr<RsaEngine>> make_rsa_engine(const device::Found &found,
                                                   const RsaTrust &trust = {});

}  // namespace lanecrypt::schedule
