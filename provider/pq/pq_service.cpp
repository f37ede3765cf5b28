// Signatures by the service: which ones go there, and how results and failures are handled.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/crypto.h>

#include <new>

#include "provider/fallback.h"
#include "provider/pq/pq_operation.h"
#include "provider/pq/pq_service_key.h"
#include "provider/refusal.h"
#include "provider/service.h"
#include "provider/wait/for_service.h"
#include "provider/wait/jobs.h"

namespace lanecrypt::provider {

void PqOperation::choose_service() {
  const Settings &settings = provider_.settings;
  const bool is_required = settings.service_is_required();
  try {
    if (!is_required && use() != Settings::Use::kAlways) return choose_service_if_sooner();
    const char *why = "the service does not take this key";
    if (key_->has_private()) {
      if (session_with_service(provider_, true) == nullptr)
        why = "";
      else
        service_key_ = key_->for_service();
    }
    tell_loss(provider_);
    if (service_key_ != nullptr || !is_required) return;
    may_go_on_ = false;
    provider_.counters.count(counts().failures);
    raise_service_required(provider_, why);
  } catch (const std::bad_alloc &) {
    service_key_ = nullptr;
    may_go_on_ = !is_required || refuse_without_memory();
  }
}

void PqOperation::choose_service_if_sooner() {
  if (!key_->has_private()) return;
  if (is_service_sooner(provider_, type_.operation_kind(), &service_choice_)) {
    service_key_ = key_->for_service();
    if (service_key_ == nullptr) stays_on_cpu();
  } else if (service_choice_ != nullptr) {
    begin_on_cpu();
  }
}

OffloadResult PqOperation::run_on_service(const PqSigning &what, std::span<const uint8_t> in,
                                          std::span<uint8_t> out) {
  OffloadResult taken = run_by_service(provider_.service().here(), *service_key_, in, out);
  if (taken == OffloadResult::kDone && provider_.settings.verify == LC_VERIFY_FULL) {
    const ErrorMark mark;
    if (!what.is_right(out)) {
      // A wrong signature may reveal the key.
      OPENSSL_cleanse(out.data(), out.size());
      taken = OffloadResult::kFailed;
    }
  }
  if (taken == OffloadResult::kDone) {
    ran_on_device_ = true;
    provider_.counters.count(counts().device);
    provider_.counters.count(counts().service);
    return OffloadResult::kDone;
  }
  return left_by_service(taken);
}

OffloadResult PqOperation::left_by_service(OffloadResult taken) {
  tell_loss(provider_);
  const bool is_required = provider_.settings.service_is_required();
  if (taken != OffloadResult::kNotTaken || is_required) provider_.counters.count(counts().failures);
  if (taken == OffloadResult::kRefused) {
    may_go_on_ = false;
    provider_.errors.raise(Reason::kFaultSigned, "the service has signed a fault with this key");
    return OffloadResult::kFailed;
  }
  if (!is_required) return OffloadResult::kNotTaken;
  may_go_on_ = false;
  raise_service_required(provider_, why_not_done(taken));
  return OffloadResult::kFailed;
}

}  // namespace lanecrypt::provider
