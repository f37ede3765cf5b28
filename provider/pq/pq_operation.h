// One signature, or one SLH-DSA key generation, on a device of this process, by the service or on
// the CPU: where it runs, how its caller waits, and what is counted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "provider/pq/pq_key.h"
#include "provider/wait/for_library.h"
#include "service/client/choice.h"
#include "service/client/offload_result.h"
#include "service/client/operation.h"

namespace lanecrypt::provider {

// PqSigning is a signature to make with the caller's key and parameters.
class PqSigning : public OneOperation {
 public:
  // is_right() says whether the default provider verifies `signature`.
  virtual bool is_right(std::span<const uint8_t> signature) const = 0;

 protected:
  ~PqSigning() = default;
};

// PqOperation is one operation, from the decision where it runs to its end. If it stays on the CPU,
// the default provider does it, and this class measures how long it took.
class PqOperation {
 public:
  // Both decide where the operation runs.
  static PqOperation signature(PqKey &key) { return {key.provider(), key.type(), &key}; }
  static PqOperation generation(Provider &provider, const PqType &type) {
    return {provider, type, nullptr};
  }
  ~PqOperation();
  PqOperation(const PqOperation &) = delete;

  // note() must be called after the default provider has done the operation. Its time counts only
  // if `done`, which says that it succeeded. It returns `done`.
  bool note(bool done) {
    is_done_ = done;
    return done;
  }
  // is_for_device() says whether a device does the operation, in this process or in the service.
  bool is_for_device() const { return is_for_device_ || service_key_ != nullptr; }
  // may_go_on() returns false, with an error raised, if a device is required and none accepts the
  // key.
  bool may_go_on() const { return may_go_on_; }
  // is_for_service() says whether the service makes the signature. The input of sign() is then the
  // service's.
  bool is_for_service() const { return service_key_ != nullptr; }
  // has_no_input() is called instead of sign() if the service's input cannot be made.
  OffloadResult has_no_input() { return left_by_service(OffloadResult::kNotTaken); }
  // sign() and generate() may pause an ASYNC job. They return kNotTaken if the caller must do the
  // operation with the default provider.
  OffloadResult sign(const PqSigning &what, std::span<const uint8_t> in, std::span<uint8_t> out);
  OffloadResult generate(const OneOperation &what, std::span<const uint8_t> in,
                         std::span<uint8_t> out) {
    return run_on_device(what, in, out);
  }

 private:
  PqOperation(Provider &provider, const PqType &type, PqKey *key);
  // These decide where the operation runs: on a device, or by the service. The third one goes by
  // the measurements.
  void choose_device();
  void choose_service();
  void choose_service_if_sooner();
  void begin_on_cpu();
  OffloadResult run_on_device(const OneOperation &what, std::span<const uint8_t> in,
                              std::span<uint8_t> out);
  // left_by_service() counts and reports an operation that the service has not done.
  OffloadResult left_by_service(OffloadResult taken);
  OffloadResult run_on_service(const PqSigning &what, std::span<const uint8_t> in,
                               std::span<uint8_t> out);
  bool prefers_device(uint32_t in_line) const;
  Settings::Use use() const {
    const Settings &settings = provider_.settings;
    return type_.family == PqFamily::kMlDsa ? settings.ml_dsa : settings.slh_dsa;
  }
  bool is_of_service() const {
    const Settings &settings = provider_.settings;
    return type_.family == PqFamily::kMlDsa ? settings.ml_dsa_is_of_service()
                                            : settings.slh_dsa_is_of_service();
  }
  // Counts names the counters of the operation.
  struct Counts {
    Count device, service, cpu, failures;
  };
  Counts counts() const;
  bool key_suits() const { return key_ == nullptr || key_->make_for_device(); }

  // The stack of an ASYNC job may be freed without running destructors (wait/jobs.h), so no member
  // owns anything.
  Provider &provider_;
  const PqType &type_;
  PqKey *const key_;  // nullptr for a key generation
  bool is_for_device_ = false, may_go_on_ = true, ran_on_device_ = false, is_done_ = false;
  PqServiceKey *service_key_ = nullptr;  // set if the service does the operation
  // True if the library, or the service's client, counts this operation as running on the CPU.
  bool is_counted_ = false;
  client::Choice *service_choice_ = nullptr;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace lanecrypt::provider
