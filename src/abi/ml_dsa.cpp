// The functions of the C ABI for ML-DSA: keys, jobs, and the choice between a device and the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <utility>

#include "abi/ticket.h"
#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "job/ml_dsa_job.h"
#include "ml_dsa/ml_dsa_request.h"
#include "service/wire/operation_kind.h"

using lanecrypt::MlDsaSizes;
using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;
using lanecrypt::runtime::Completion;
using lanecrypt::runtime::CompletionPointer;
using lanecrypt::runtime::MlDsaRequest;
using lanecrypt::runtime::MlDsaRequestPointer;

struct lc_ml_dsa_key {
  lanecrypt::MlDsaKeyPointer key;
};

namespace {

const lanecrypt::MlDsaKeyPointer &key_of(const lc_ml_dsa_key *key) { return key->key; }

// operation_kind_of() returns the operation kind in the service's protocol.
lanecrypt::service::OperationKind operation_kind_of(const MlDsaSizes &sizes) {
  return {lanecrypt::service::Family::kMlDsa, uint32_t(sizes.set)};
}

// start() checks the job and submits it to the service or to a device. `waits`: the caller waits,
// so the service's answer needs no thread of ours.
template <bool waits>
Status start(lc_context *context, const lc_ml_dsa_job *job, Completion::Callback callback,
             CompletionPointer *started) {
  Result<lanecrypt::MlDsaJob> checked = lanecrypt::make_ml_dsa_job(job, key_of);
  if (!checked.ok()) return checked.status();
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  const bool may_be_remote =
      checked->operation == LC_ML_DSA_SIGN && checked->device == LC_ANY_DEVICE;
  Result<MlDsaRequestPointer> request =
      MlDsaRequest::make(std::move(*checked), std::move(callback));
  if (!request.ok()) return request.status();
  *started = *request;
  if (auto *const remote = may_be_remote ? context->remote_operations() : nullptr;
      remote != nullptr)
    return remote->submit(lanecrypt::remote::wrap(*request), waits);
  return context->dispatcher().submit(*request);
}

}  // namespace

size_t lc_ml_dsa_bytes(lc_ml_dsa_set set, lc_ml_dsa_part part) {
  const MlDsaSizes *const sizes = lanecrypt::find_ml_dsa_sizes(lanecrypt::enum_number(set));
  if (sizes == nullptr) return 0;
  switch (lanecrypt::enum_number(part)) {
    case LC_ML_DSA_SEED:
      return lanecrypt::kMlDsaSeedBytes;
    case LC_ML_DSA_PUBLIC_KEY:
      return sizes->public_bytes;
    case LC_ML_DSA_PRIVATE_KEY:
      return sizes->private_bytes;
    case LC_ML_DSA_SIGNATURE:
      return sizes->signature_bytes;
    default:
      return 0;
  }
}

lc_status lc_ml_dsa_key_new(const lc_ml_dsa_parts *parts, lc_ml_dsa_key **key) {
  return guarded([&]() -> lc_status {
    if (key == nullptr) return report(LC_ERROR_ARGUMENT, "no place for the key");
    *key = nullptr;
    Result<lanecrypt::MlDsaParts> checked = lanecrypt::check_ml_dsa_parts(parts);
    if (!checked.ok()) return report(checked.status());
    auto made = lanecrypt::cpu::make_ml_dsa_key(*checked);
    if (!made.ok()) return report(made.status());
    *key = new lc_ml_dsa_key{*made};
    return LC_OK;
  });
}

void lc_ml_dsa_key_free(lc_ml_dsa_key *key) { delete key; }

lc_status lc_ml_dsa_run(lc_context *context, const lc_ml_dsa_job *job, lc_result *result) {
  return lanecrypt::abi::run(start<true>, context, job, result);
}

lc_status lc_ml_dsa_submit(lc_context *context, const lc_ml_dsa_job *job,
                           const lc_completion *completion, lc_ticket **ticket) {
  return lanecrypt::abi::submit(start<false>, context, job, completion, ticket);
}

int lc_ml_dsa_prefers_device(lc_context *context, lc_ml_dsa_set set, uint32_t in_line) {
  const MlDsaSizes *const sizes = lanecrypt::find_ml_dsa_sizes(lanecrypt::enum_number(set));
  if (context == nullptr || sizes == nullptr) return 0;
  const lanecrypt::abi::Call call;
  try {
    if (auto *remote = context->remote_operations(); remote != nullptr)
      return remote->prefers_device(operation_kind_of(*sizes), in_line) ? 1 : 0;
    return context->ml_dsa_choice().is_device_sooner(*sizes, in_line) ? 1 : 0;
  } catch (...) {  // out of memory or threads
    return 0;
  }
}

void lc_ml_dsa_report_cpu_time(lc_context *context, lc_ml_dsa_set set, uint64_t nanoseconds) {
  const MlDsaSizes *const sizes = lanecrypt::find_ml_dsa_sizes(lanecrypt::enum_number(set));
  if (context == nullptr || sizes == nullptr) return;
  try {
    if (auto *remote = context->remote_operations(); remote != nullptr)
      return remote->report_cpu_time(operation_kind_of(*sizes),
                                     std::chrono::nanoseconds(nanoseconds));
    context->ml_dsa_choice().report_cpu_time(*sizes, std::chrono::nanoseconds(nanoseconds));
  } catch (...) {
  }
}
