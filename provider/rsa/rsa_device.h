// RSA private-key operations on a device, in this process or by the service: which ones go there,
// and how their callers wait.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "provider/rsa/rsa_key.h"
#include "provider/rsa/rsa_service_key.h"
#include "service/client/choice.h"
#include "service/client/offload_result.h"

namespace lanecrypt::provider {

// RsaOperation is one private-key operation, from the decision where it runs to its end. If it
// stays on the CPU, the default provider does it, and this class measures how long it took.
class RsaOperation {
 public:
  // The constructor decides where the operation runs.
  explicit RsaOperation(RsaKey &key);
  ~RsaOperation();
  RsaOperation(const RsaOperation &) = delete;

  // note() must be called after the default provider has done the operation. Its time counts only
  // if `done`, which says that it succeeded. It returns `done`.
  int note(int done) {
    is_done_ = done != 0;
    return done;
  }

  bool is_for_device() const { return device_key_ != nullptr || service_key_ != nullptr; }
  // may_go_on() returns false, with an error raised, if a device is required and none accepts the
  // key.
  bool may_go_on() const { return may_go_on_; }
  // exponent_hash() returns the SHA-256 hash of the private exponent. It may be called only if
  // is_for_device().
  const uint8_t *exponent_hash() const {
    return service_key_ != nullptr ? service_key_->exponent_hash() : device_key_->exponent_hash;
  }
  // run() computes in^d mod n. `in` and `out` are as long as the modulus, and `in` is less than the
  // modulus. It may pause an ASYNC job.
  OffloadResult run(const uint8_t *in, uint8_t *out);

 private:
  // The stack of an ASYNC job may be freed without running destructors (wait/jobs.h), so no member
  // owns anything.
  bool has_device_length() const;
  void choose_device();
  OffloadResult run_on_device(const uint8_t *in, uint8_t *out);
  void choose_service();
  void choose_service_if_sooner();
  OffloadResult run_on_service(const uint8_t *in, uint8_t *out);

  RsaKey &key_;
  const RsaDeviceKey *device_key_ = nullptr;
  RsaServiceKey *service_key_ = nullptr;
  bool may_go_on_ = true;
  bool ran_on_device_ = false;
  bool is_done_ = false;
  // True if the library, or the service's client, counts this operation as running on the CPU.
  bool is_counted_ = false;
  client::Choice *service_choice_ = nullptr;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace lanecrypt::provider
