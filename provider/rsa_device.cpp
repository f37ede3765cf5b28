// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa_device.h"

#include <cstring>

#include "provider/rsa_wait.h"

namespace lanecrypt::provider {

RsaOperation::RsaOperation(RsaKey &key) : key_(key) {
  Provider &provider = key.provider();
  const Settings &settings = provider.settings;
  const bool must = settings.require_gpu;
  if (must || settings.rsa == Settings::Rsa::kAlways) device_key_ = key.for_device();
  if (must && device_key_ == nullptr) {
    may_go_on_ = false;
    provider.counters.count_rsa_failure();
    provider.errors.raise(Reason::kDeviceRequired, "no device takes this RSA key");
  }
}

RsaOperation::~RsaOperation() {
  if (may_go_on_ && !ran_on_device_) key_.provider().counters.count_rsa_cpu();
}

RsaTaken RsaOperation::run(const uint8_t *in, uint8_t *out) {
  Provider &provider = key_.provider();
  provider.asked_devices.store(true, std::memory_order_relaxed);
  lc_result result{};
  result.struct_size = sizeof result;
  std::string why;
  const lc_status status =
      run_rsa_and_wait(provider.devices, *device_key_->key, key_.bytes(), in, out, &result, &why);
  if (status == LC_OK) {
    if (result.failed_checks > 0) provider.counters.count_rsa_failure();
    if (result.device_operations > 0) {
      ran_on_device_ = true;
      provider.counters.count_rsa_device();
    }
    return RsaTaken::kDone;
  }
  provider.counters.count_rsa_failure();
  if (!provider.settings.require_gpu) return RsaTaken::kNotTaken;
  may_go_on_ = false;
  provider.errors.raise(Reason::kDeviceRequired, why.c_str());
  return RsaTaken::kFailed;
}

}  // namespace lanecrypt::provider
