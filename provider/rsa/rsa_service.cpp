// RSA private-key operations by the service: which ones go there, and how results and failures are
// handled.
//
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "provider/refusal.h"
#include "provider/rsa/rsa_device.h"
#include "provider/service.h"
#include "provider/wait/for_service.h"
#include "provider/wait/jobs.h"

namespace lanecrypt::provider {

void RsaOperation::choose_service() {
  Provider &provider = key_.provider();
  const Settings &settings = provider.settings;
  const bool is_required = settings.service_is_required();
  try {
    if (!is_required && settings.rsa != Settings::Use::kAlways) return choose_service_if_sooner();
    const char *why = "no device takes this RSA key";
    if (has_device_length() && key_.may_suit_device()) {
      const std::shared_ptr<client::Session> session = session_with_service(provider, true);
      if (session != nullptr) service_key_ = key_.for_service();
      if (session == nullptr) why = "";
    }
    tell_loss(provider);
    if (service_key_ != nullptr || !is_required) return;
    may_go_on_ = false;
    provider.counters.count(Count::kRsaFailures);
    raise_service_required(provider, why);
  } catch (const std::bad_alloc &) {
    service_key_ = nullptr;
    may_go_on_ = !is_required || refuse_without_memory();
  }
}

void RsaOperation::choose_service_if_sooner() {
  if (!has_device_length() || !key_.may_suit_device()) return;
  const service::OperationKind operation_kind{service::Family::kRsa, uint32_t(key_.bits())};
  if (is_service_sooner(key_.provider(), operation_kind, &service_choice_)) {
    service_key_ = key_.for_service();
    if (service_key_ == nullptr) stays_on_cpu();
  } else if (service_choice_ != nullptr) {
    is_counted_ = true;
    began_ = std::chrono::steady_clock::now();
  }
}

OffloadResult RsaOperation::run_on_service(const uint8_t *in, uint8_t *out) {
  Provider &provider = key_.provider();
  const std::span<const uint8_t> input{in, key_.bytes()};
  const std::span<uint8_t> output{out, key_.bytes()};
  OffloadResult taken = run_by_service(provider.service().here(), *service_key_, input, output);
  if (taken == OffloadResult::kDone && provider.settings.verify == LC_VERIFY_FULL &&
      !service_key_->is_result(input, output)) {
    // A wrong result may reveal the key.
    OPENSSL_cleanse(out, output.size());
    taken = OffloadResult::kFailed;
  }
  if (taken == OffloadResult::kDone) {
    ran_on_device_ = true;
    provider.counters.count(Count::kRsaDeviceJobs);
    provider.counters.count(Count::kRsaServiceJobs);
    return OffloadResult::kDone;
  }
  tell_loss(provider);
  const bool is_required = provider.settings.service_is_required();
  if (taken == OffloadResult::kFailed || is_required) provider.counters.count(Count::kRsaFailures);
  if (!is_required) return OffloadResult::kNotTaken;
  may_go_on_ = false;
  raise_service_required(provider, why_not_done(taken));
  return OffloadResult::kFailed;
}

}  // namespace lanecrypt::provider
