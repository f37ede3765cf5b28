// Private RSA operations on a device, in this process or by the service: which ones go there,
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

// One private operation, from the decision where it runs to its end. On the CPU the default
// provider does it, and this notes how long it took.
class RsaOperation {
 public:
  // Decides where the operation runs.
  explicit RsaOperation(RsaKey &key);
  ~RsaOperation();
  RsaOperation(const RsaOperation &) = delete;

  // Called after the CPU's part. The time counts only if `done` says that it succeeded.
  // Returns `done`.
  int note(int done) {
    is_done_ = done != 0;
    return done;
  }

  bool is_for_device() const { return device_key_ != nullptr || service_key_ != nullptr; }
  // False, with an error raised, if a device is required and none takes the key.
  bool may_go_on() const { return may_go_on_; }
  // SHA-256 of the private exponent, if it is for a device.
  const uint8_t *exponent_hash() const {
    return service_key_ != nullptr ? service_key_->exponent_hash() : device_key_->exponent_hash;
  }
  // Computes in^d mod n. Both are as long as the modulus, and `in` is less than it. May pause
  // an ASYNC job.
  OffloadResult run(const uint8_t *in, uint8_t *out);

 private:
  // All of the job's stack may be freed without a destructor (wait/jobs.h). So nothing here
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
  // The library, or the service's client, was asked, and since then counts this operation as on
  // the CPU.
  bool is_counted_ = false;
  client::Choice *service_choice_ = nullptr;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace lanecrypt::provider
