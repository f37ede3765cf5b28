// Decides where an RSA private-key operation runs, and runs it on a device.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_device.h"

#include "provider/device_health.h"
#include "provider/wait/for_library.h"
#include "provider/wait/jobs.h"

namespace lanecrypt::provider {
namespace {

// PrivateOperation computes in^d mod n (RFC 8017, section 5.1.2, RSADP, and section 5.2.1, RSASP1).
class PrivateOperation final : public OneOperation {
 public:
  PrivateOperation(lc_context *devices, const lc_rsa_key &key) : devices_(devices), key_(key) {}

  lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const override {
    const lc_rsa_message message = message_of(in, out);
    const lc_rsa_job job = job_of(message);
    return lc_rsa_run(devices_, &job, result);
  }
  lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                   lc_ticket **ticket) const override {
    const lc_rsa_message message = message_of(in, out);
    const lc_rsa_job job = job_of(message);
    return lc_rsa_submit(devices_, &job, completion, ticket);
  }

 private:
  lc_rsa_message message_of(const uint8_t *in, uint8_t *out) const {
    return {.key = &key_, .in = in, .out = out};
  }
  static lc_rsa_job job_of(const lc_rsa_message &message) {
    lc_rsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_RSA_PRIVATE;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    return job;
  }

  lc_context *const devices_;
  const lc_rsa_key &key_;
};

}  // namespace

RsaOperation::RsaOperation(RsaKey &key) : key_(key) {
  if (key.provider().settings.rsa_is_of_service())
    choose_service();
  else
    choose_device();
}

bool RsaOperation::has_device_length() const {
  return key_.bits() >= kLeastRsaBits && key_.bits() <= kMostRsaBits;
}

void RsaOperation::choose_device() {
  Provider &provider = key_.provider();
  const Settings &settings = provider.settings;
  if (!settings.require_gpu && !provider.may_use_devices()) return;
  if (settings.require_gpu || settings.rsa == Settings::Use::kAlways) {
    device_key_ = key_.for_device();
    if (device_key_ != nullptr || !settings.require_gpu) return;
    may_go_on_ = false;
    provider.counters.count(Count::kRsaFailures);
    provider.errors.raise(Reason::kDeviceRequired,
                          provider.why_no_devices("no device takes this RSA key"));
    return;
  }
  if (!has_device_length() || !key_.may_suit_device()) return;
  const uint32_t in_line = operations_in_line();
  if (lc_rsa_prefers_device(provider.devices(), uint32_t(key_.bits()), in_line)) {
    device_key_ = key_.for_device();
    return;
  }
  stays_on_cpu();
  is_counted_ = true;
  began_ = std::chrono::steady_clock::now();
}

RsaOperation::~RsaOperation() {
  Provider &provider = key_.provider();
  // An operation that failed because the key is missing or is not private is not counted as a
  // private-key operation.
  if (may_go_on_ && !ran_on_device_ &&
      (is_done_ || key_.parts(OSSL_KEYMGMT_SELECT_PRIVATE_KEY).is_private))
    provider.counters.count(Count::kRsaCpuJobs);
  if (!is_counted_) return;
  const auto took = std::chrono::steady_clock::now() - began_;
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  const auto bits = uint32_t(key_.bits());
  if (service_choice_ != nullptr)
    service_choice_->report_cpu_time({service::Family::kRsa, bits}, is_done_ ? took : took.zero());
  else
    lc_rsa_report_cpu_time(provider.devices(), bits, is_done_ ? uint64_t(ns) : 0);
}

OffloadResult RsaOperation::run(const uint8_t *in, uint8_t *out) {
  return service_key_ != nullptr ? run_on_service(in, out) : run_on_device(in, out);
}

OffloadResult RsaOperation::run_on_device(const uint8_t *in, uint8_t *out) {
  Provider &provider = key_.provider();
  provider.asked_devices.store(true, std::memory_order_relaxed);
  lc_result result{};
  result.struct_size = sizeof result;
  std::string why;
  const PrivateOperation operation(provider.devices(), *device_key_->key);
  const lc_status status =
      run_and_wait(operation, {in, key_.bytes()}, {out, key_.bytes()}, &result, &why);
  // Either the queue was full, or a device failed and the library's CPU code, or nothing, took
  // over.
  if (status != LC_OK || result.cpu_operations > 0 || result.failed_devices > 0)
    (void)check_device_health(provider);
  if (status == LC_OK) {
    if (result.failed_checks > 0 || result.failed_devices > 0)
      provider.counters.count(Count::kRsaFailures);
    if (result.device_operations > 0) {
      ran_on_device_ = true;
      provider.counters.count(Count::kRsaDeviceJobs);
    }
    return OffloadResult::kDone;
  }
  provider.counters.count(Count::kRsaFailures);
  if (!provider.settings.require_gpu) return OffloadResult::kNotTaken;
  may_go_on_ = false;
  provider.errors.raise(Reason::kDeviceRequired, why.c_str());
  return OffloadResult::kFailed;
}

}  // namespace lanecrypt::provider
