// Decides where a signature or key generation runs, and runs it on a device.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_operation.h"

#include <string>

#include "provider/device_health.h"
#include "provider/wait/jobs.h"

namespace lanecrypt::provider {
namespace {

lc_slh_dsa_operation slh_dsa_operation(bool is_key) {
  return is_key ? LC_SLH_DSA_GENERATE : LC_SLH_DSA_SIGN;
}

}  // namespace

// The service generates no keys, so its counter is unused for key generation.
PqOperation::Counts PqOperation::counts() const {
  if (type_.family == PqFamily::kMlDsa)
    return {Count::kMlDsaDeviceJobs, Count::kMlDsaServiceJobs, Count::kMlDsaCpuJobs,
            Count::kMlDsaFailures};
  if (key_ == nullptr)
    return {Count::kSlhDsaDeviceKeys, Count::kSlhDsaServiceJobs, Count::kSlhDsaCpuKeys,
            Count::kSlhDsaFailures};
  return {Count::kSlhDsaDeviceJobs, Count::kSlhDsaServiceJobs, Count::kSlhDsaCpuJobs,
          Count::kSlhDsaFailures};
}

bool PqOperation::prefers_device(uint32_t in_line) const {
  if (type_.family == PqFamily::kMlDsa)
    return lc_ml_dsa_prefers_device(provider_.devices(), lc_ml_dsa_set(type_.set), in_line) != 0;
  return lc_slh_dsa_prefers_device(provider_.devices(), lc_slh_dsa_set(type_.set),
                                   slh_dsa_operation(key_ == nullptr), in_line) != 0;
}

PqOperation::PqOperation(Provider &provider, const PqType &type, PqKey *key)
    : provider_(provider), type_(type), key_(key) {
  if (!is_of_service())
    choose_device();
  else if (key_ != nullptr)
    choose_service();
  else if (provider_.settings.in_process)
    choose_device();
}

void PqOperation::choose_device() {
  const Settings &settings = provider_.settings;
  if (!settings.require_gpu && !provider_.may_use_devices()) return;
  if (settings.require_gpu || use() == Settings::Use::kAlways) {
    is_for_device_ = key_suits();
    if (is_for_device_ || !settings.require_gpu) return;
    may_go_on_ = false;
    provider_.counters.count(counts().failures);
    provider_.errors.raise(Reason::kDeviceRequired,
                           provider_.why_no_devices("no device takes this key"));
    return;
  }
  if (key_ != nullptr && (!key_->has_private() || !key_->may_suit_device())) return;
  const uint32_t in_line = operations_in_line();
  if (prefers_device(in_line)) {
    is_for_device_ = key_suits();
    if (!is_for_device_) stays_on_cpu();
    return;
  }
  stays_on_cpu();
  begin_on_cpu();
}

void PqOperation::begin_on_cpu() {
  is_counted_ = true;
  began_ = std::chrono::steady_clock::now();
}

PqOperation::~PqOperation() {
  if (is_done_ && !ran_on_device_) provider_.counters.count(counts().cpu);
  if (!is_counted_) return;
  const auto took = std::chrono::steady_clock::now() - began_;
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  const uint64_t ns = is_done_ ? uint64_t(passed) : 0;
  if (service_choice_ != nullptr)
    service_choice_->report_cpu_time(type_.operation_kind(), std::chrono::nanoseconds(ns));
  else if (type_.family == PqFamily::kMlDsa)
    lc_ml_dsa_report_cpu_time(provider_.devices(), lc_ml_dsa_set(type_.set), ns);
  else
    lc_slh_dsa_report_cpu_time(provider_.devices(), lc_slh_dsa_set(type_.set),
                               slh_dsa_operation(key_ == nullptr), ns);
}

OffloadResult PqOperation::sign(const PqSigning &what, std::span<const uint8_t> in,
                                std::span<uint8_t> out) {
  return is_for_service() ? run_on_service(what, in, out) : run_on_device(what, in, out);
}

OffloadResult PqOperation::run_on_device(const OneOperation &what, std::span<const uint8_t> in,
                                         std::span<uint8_t> out) {
  const Counts counts = this->counts();
  provider_.asked_devices.store(true, std::memory_order_relaxed);
  lc_result result{};
  result.struct_size = sizeof result;
  std::string why;
  const lc_status status = run_and_wait(what, in, out, &result, &why);
  // Either the queue was full, or a device failed and the library's CPU code, or nothing, took
  // over.
  if (status != LC_OK || result.cpu_operations > 0 || result.failed_devices > 0)
    (void)check_device_health(provider_);
  if (status == LC_OK) {
    if (result.failed_checks > 0 || result.failed_devices > 0)
      provider_.counters.count(counts.failures);
    if (result.device_operations > 0) {
      ran_on_device_ = true;
      provider_.counters.count(counts.device);
    }
    is_done_ = true;
    return OffloadResult::kDone;
  }
  provider_.counters.count(counts.failures);
  // The library's CPU code already replaces devices that fail. What remains is an SLH-DSA one-time
  // key that has signed faulty data: any further signature by it, on a device or on the CPU, could
  // reveal the key.
  if (status == LC_ERROR_DEVICE && type_.family == PqFamily::kSlhDsa && key_ != nullptr &&
      !provider_.settings.require_gpu) {
    may_go_on_ = false;
    provider_.errors.raise(Reason::kFaultSigned, why.c_str());
    return OffloadResult::kFailed;
  }
  if (!provider_.settings.require_gpu) return OffloadResult::kNotTaken;
  may_go_on_ = false;
  provider_.errors.raise(Reason::kDeviceRequired, why.c_str());
  return OffloadResult::kFailed;
}

}  // namespace lanecrypt::provider
