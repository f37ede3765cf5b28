// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/ml_dsa_device.h"

#include "provider/fleet.h"
#include "provider/wait/for_library.h"
#include "provider/wait/jobs.h"

namespace lanecrypt::provider {
namespace {

// Signs MlDsaInput.
class Signing final : public OneOperation {
 public:
  Signing(lc_context *devices, const lc_ml_dsa_key &key, size_t signature_bytes)
      : devices_(devices), key_(key), signature_bytes_(signature_bytes) {}

  lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const override {
    const lc_ml_dsa_message message = message_of(in, out);
    const lc_ml_dsa_job job = job_of(message);
    return lc_ml_dsa_run(devices_, &job, result);
  }
  lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                   lc_ticket **ticket) const override {
    const lc_ml_dsa_message message = message_of(in, out);
    const lc_ml_dsa_job job = job_of(message);
    return lc_ml_dsa_submit(devices_, &job, completion, ticket);
  }

 private:
  lc_ml_dsa_message message_of(const uint8_t *in, uint8_t *out) const {
    lc_ml_dsa_message message{};
    message.key = &key_;
    message.message = in;
    message.message_bytes = kMlDsaMuBytes;
    message.random = in + kMlDsaMuBytes;
    message.signature = out;
    message.signature_bytes = signature_bytes_;
    return message;
  }
  static lc_ml_dsa_job job_of(const lc_ml_dsa_message &message) {
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_ML_DSA_SIGN;
    job.encoding = LC_MESSAGE_MU;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    return job;
  }

  lc_context *const devices_;
  const lc_ml_dsa_key &key_;
  const size_t signature_bytes_;
};

}  // namespace

MlDsaOperation::MlDsaOperation(PqKey &key) : key_(key) {
  Provider &provider = key_.provider();
  const Settings &settings = provider.settings;
  if (!settings.require_gpu && !provider.may_use_devices()) return;
  if (settings.require_gpu || settings.ml_dsa == Settings::Use::kAlways) {
    device_key_ = key_.for_device();
    if (device_key_ != nullptr || !settings.require_gpu) return;
    may_go_on_ = false;
    provider.counters.count(Count::kMlDsaFailures);
    provider.errors.raise(Reason::kDeviceRequired, "no device takes this key of ML-DSA");
    return;
  }
  if (!key_.has_private() || !key_.may_suit_device()) return;
  const uint32_t in_line = operations_in_line();
  if (lc_ml_dsa_device_is_sooner(provider.devices(), key_.type().set, in_line)) {
    device_key_ = key_.for_device();
    if (device_key_ == nullptr) stays_on_cpu();
    return;
  }
  stays_on_cpu();
  is_counted_ = true;
  began_ = std::chrono::steady_clock::now();
}

MlDsaOperation::~MlDsaOperation() {
  Provider &provider = key_.provider();
  if (may_go_on_ && !ran_on_device_) provider.counters.count(Count::kMlDsaCpuJobs);
  if (!is_counted_) return;
  const auto took = std::chrono::steady_clock::now() - began_;
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  lc_ml_dsa_ran_on_cpu(provider.devices(), key_.type().set, is_done_ ? uint64_t(ns) : 0);
}

MlDsaOperation::Taken MlDsaOperation::run(const MlDsaInput &in, std::span<uint8_t> signature) {
  Provider &provider = key_.provider();
  provider.asked_devices.store(true, std::memory_order_relaxed);
  lc_result result{};
  result.struct_size = sizeof result;
  std::string why;
  const Signing operation(provider.devices(), *device_key_, signature.size());
  const lc_status status = run_and_wait(operation, in.bytes, signature, &result, &why);
  // Either the queue was full, or a device failed and the library's CPU or nobody took over.
  if (status != LC_OK || result.cpu_operations > 0 || result.failed_devices > 0)
    (void)look_at_devices(provider);
  if (status == LC_OK) {
    if (result.failed_checks > 0 || result.failed_devices > 0)
      provider.counters.count(Count::kMlDsaFailures);
    if (result.device_operations > 0) {
      ran_on_device_ = true;
      provider.counters.count(Count::kMlDsaDeviceJobs);
    }
    return Taken::kDone;
  }
  provider.counters.count(Count::kMlDsaFailures);
  if (!provider.settings.require_gpu) return Taken::kNotTaken;
  may_go_on_ = false;
  provider.errors.raise(Reason::kDeviceRequired, why.c_str());
  return Taken::kFailed;
}

}  // namespace lanecrypt::provider
