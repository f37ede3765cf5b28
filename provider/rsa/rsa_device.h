// The private operation of RSA on a device: which ones go there, and how their
// callers wait.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "provider/rsa/rsa_key.h"

namespace lanecrypt::provider {

// What became of an operation that a device might do.
enum class RsaTaken {
  kDone,      // the result is there
  kNotTaken,  // nothing was done: the CPU is to do it
  kFailed,    // an error was raised
};

// One private operation, from the decision where it runs to its end. What runs
// on the CPU is the default provider's business; this notes how long it took.
class RsaOperation {
 public:
  // Decides.
  explicit RsaOperation(RsaKey &key);
  ~RsaOperation();
  RsaOperation(const RsaOperation &) = delete;

  // What the CPU did was right, so that the time it took is worth knowing.
  // Returns `done`.
  int note(int done) {
    is_done_ = done != 0;
    return done;
  }

  bool is_for_device() const { return device_key_ != nullptr; }
  // False, with an error raised, where a device is required and none takes the
  // key.
  bool may_go_on() const { return may_go_on_; }
  const RsaDeviceKey &device_key() const { return *device_key_; }
  // in^d mod n, both as long as the modulus; in is less than it. In a job of
  // ASYNC it may pause.
  RsaTaken run(const uint8_t *in, uint8_t *out);

 private:
  RsaKey &key_;
  const RsaDeviceKey *device_key_ = nullptr;
  bool may_go_on_ = true;
  bool ran_on_device_ = false;
  bool is_done_ = false;
  // The library was asked, and counts this one as on the CPU since then.
  bool is_counted_ = false;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace lanecrypt::provider
