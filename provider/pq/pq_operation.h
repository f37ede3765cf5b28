// One signature, or one new key of SLH-DSA, on a device of this process, by the service, or on the
// CPU: which of them, how its caller waits, and what is counted.
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

// A signature to make of what the caller has.
class PqSigning : public OneOperation {
 public:
  // Whether the default provider takes it for one.
  virtual bool is_right(std::span<const uint8_t> signature) const = 0;

 protected:
  ~PqSigning() = default;
};

// An operation from the decision where it is done to its end. On the CPU the default provider
// does it, and this notes how long it took.
class PqOperation {
 public:
  // Each decides where it is done.
  static PqOperation signature(PqKey &key) { return {key.provider(), key.type(), &key}; }
  static PqOperation generation(Provider &provider, const PqType &type) {
    return {provider, type, nullptr};
  }
  ~PqOperation();
  PqOperation(const PqOperation &) = delete;

  // Called after the CPU's part. The time counts only if `done` says that it succeeded.
  // Returns `done`.
  bool note(bool done) {
    is_done_ = done;
    return done;
  }
  // Whether a device does it, here or in the service.
  bool is_for_device() const { return is_for_device_ || service_key_ != nullptr; }
  // False, with an error raised, if a device is required and none takes the key.
  bool may_go_on() const { return may_go_on_; }
  // Whether the service makes the signature. Then sign() takes what the service wants of it.
  bool is_for_service() const { return service_key_ != nullptr; }
  // What it wants cannot be had.
  OffloadResult has_no_input() { return left_by_service(OffloadResult::kNotTaken); }
  // Both may pause an ASYNC job.
  OffloadResult sign(const PqSigning &what, std::span<const uint8_t> in, std::span<uint8_t> out);
  OffloadResult generate(const OneOperation &what, std::span<const uint8_t> in,
                         std::span<uint8_t> out) {
    return run_on_device(what, in, out);
  }

 private:
  PqOperation(Provider &provider, const PqType &type, PqKey *key);
  void choose_device();
  void choose_service();
  void choose_service_if_sooner();
  void begin_on_cpu();
  OffloadResult run_on_device(const OneOperation &what, std::span<const uint8_t> in,
                              std::span<uint8_t> out);
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
  // What of it counts as what.
  struct Counts {
    Count device, service, cpu, failures;
  };
  Counts counts() const;
  bool key_suits() const { return key_ == nullptr || key_->make_for_device(); }

  // All of the job's stack may be freed without a destructor (wait/jobs.h). So nothing here
  // owns anything.
  Provider &provider_;
  const PqType &type_;
  PqKey *const key_;  // nullptr: it makes one
  bool is_for_device_ = false, may_go_on_ = true, ran_on_device_ = false, is_done_ = false;
  PqServiceKey *service_key_ = nullptr;  // the service does it
  // The library, or the service's client, was asked, and since then counts this operation as on
  // the CPU.
  bool is_counted_ = false;
  client::Choice *service_choice_ = nullptr;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace lanecrypt::provider
