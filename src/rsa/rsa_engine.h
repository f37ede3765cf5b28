// RSA on one device, as the batcher sees it: batches of operations that run in
// one launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "device/device.h"
#include "job/rsa_job.h"

namespace lanecrypt::schedule {

// One operation of a batch. What it points to stays until the batch is over.
struct RsaItem {
  const RsaKey *key;
  const uint8_t *in;
  uint8_t *out;
};

// A batch under way. Goes before the engine that started it.
class RsaBatch {
 public:
  virtual ~RsaBatch() = default;
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
class RsaEngine {
 public:
  virtual ~RsaEngine() = default;
  // Starts a batch of one operation and of one kind, beside those under way,
  // and returns at once. The device may copy the inputs later.
  virtual Result<std::unique_ptr<RsaBatch>> start(lc_rsa_operation operation,
                                                  std::span<const RsaItem> items) = 0;
  // So many operations of a kind should be a batch where more wait: enough to keep all
  // of the device busy with a few batches, and few enough that the first starts soon.
  virtual size_t best_batch(uint32_t) const { return SIZE_MAX; }
  // How many times the time limit a batch may take; below one where it is small.
  virtual double share_of_limit(uint32_t, size_t) const { return 0; }
  // Something that it was given does not end: it must never go (keep_for_ever()).
  virtual bool is_stuck() const { return false; }
  // Kernels started so far.
  virtual uint64_t launches() const = 0;
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
RsaKind rsa_kind(const RsaKey &key, lc_rsa_operation operation);
// The same of a private key of two equal primes of which only the length is known.
RsaKind rsa_kind(uint32_t modulus_bits);

// Opens the device for RSA alone, on the calling thread, and has it answer what
// is known. An error says why it cannot be used.
Result<std::unique_ptr<RsaEngine>> make_rsa_engine(const device::Found &found,
                                                   const RsaTrust &trust = {});

}  // namespace lanecrypt::schedule
