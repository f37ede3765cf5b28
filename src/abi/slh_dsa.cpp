// The functions of the C ABI for SLH-DSA: parameter sets, keys, signatures, key generation, and the
// choice between a device and the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <utility>

#include "abi/ticket.h"
#include "cpu/slh/cpu_slh.h"
#include "job/slh_job.h"
#include "service/wire/operation_kind.h"
#include "slh/slh_request.h"

using lanecrypt::enum_number;
using lanecrypt::Result;
using lanecrypt::SlhSet;
using lanecrypt::Status;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;
using lanecrypt::runtime::Completion;
using lanecrypt::runtime::CompletionPointer;
using lanecrypt::runtime::SlhKeys;
using lanecrypt::runtime::SlhSignatures;

struct lc_slh_dsa_key {
  lanecrypt::SlhKeyPointer key;
};

namespace {

const lanecrypt::SlhKeyPointer &key_of(const lc_slh_dsa_key *key) { return key->key; }

// operation_kind_of() returns the operation kind in the service's protocol.
lanecrypt::service::OperationKind operation_kind_of(const SlhSet &set) {
  return {lanecrypt::service::Family::kSlhDsa, uint32_t(set.number)};
}

// remote_operations_for() returns the object that does such operations by the service; nullptr if
// devices do them.
lanecrypt::remote::PrivateOperations *remote_operations_for(lc_context *context, const SlhSet &set,
                                                            lc_slh_dsa_operation operation) {
  const bool may_be_remote = operation == LC_SLH_DSA_SIGN &&
                             lanecrypt::service::find_set(operation_kind_of(set)) != nullptr;
  return may_be_remote ? context->remote_operations() : nullptr;
}

// start() checks the job, hashes its messages, and submits it to the service or to a device.
// `waits`: the caller waits, so the service's answer needs no thread of ours.
template <bool waits>
Status start(lc_context *context, const lc_slh_dsa_job *job, Completion::Callback callback,
             CompletionPointer *started) {
  Result<lanecrypt::SlhJob> checked = lanecrypt::make_slh_job(job, key_of);
  if (!checked.ok()) return checked.status();
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  const bool may_be_remote = checked->operation == LC_SLH_DSA_SIGN &&
                             checked->device == LC_ANY_DEVICE &&
                             lanecrypt::remote::knows_sets(*checked);
  const auto request = std::make_shared<SlhSignatures>(std::move(*checked), std::move(callback));
  *started = request;
  if (auto *const remote = may_be_remote ? context->remote_operations() : nullptr;
      remote != nullptr) {
    LC_TRY(request->hash([](size_t count, const std::function<void(size_t)> &part) {
      for (size_t n = 0; n < count; ++n) part(n);
    }));
    return remote->submit(lanecrypt::remote::wrap(request), waits);
  }
  LC_TRY(request->hash([&](size_t count, const std::function<void(size_t)> &part) {
    context->dispatcher().workers().share(count, part);
  }));
  return context->dispatcher().submit(lanecrypt::runtime::SlhRequestPointer(request));
}

Status start(lc_context *context, const lc_slh_dsa_generation *generation,
             Completion::Callback callback, CompletionPointer *started) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  Result<lanecrypt::SlhGeneration> checked = lanecrypt::make_slh_generation(generation);
  if (!checked.ok()) return checked.status();
  const auto request = std::make_shared<SlhKeys>(*checked, std::move(callback));
  LC_TRY(request->take_seeds());
  *started = request;
  return context->dispatcher().submit(lanecrypt::runtime::SlhRequestPointer(request));
}

// set_of_choice() returns the parameter set of a choice between the CPU and devices; nullptr if the
// arguments are invalid.
const SlhSet *set_of_choice(lc_context *context, const lc_slh_dsa_set &set,
                            const lc_slh_dsa_operation &operation) {
  if (context == nullptr || enum_number(operation) > LC_SLH_DSA_GENERATE) return nullptr;
  return lanecrypt::find_slh_set(enum_number(set));
}

}  // namespace

const char *lc_slh_dsa_name(lc_slh_dsa_set set) {
  const SlhSet *const found = lanecrypt::find_slh_set(enum_number(set));
  return found == nullptr ? nullptr : found->name;
}

size_t lc_slh_dsa_hash_bytes(lc_slh_dsa_set set) {
  const SlhSet *const found = lanecrypt::find_slh_set(enum_number(set));
  return found == nullptr ? 0 : found->n;
}

size_t lc_slh_dsa_signature_bytes(lc_slh_dsa_set set) {
  const SlhSet *const found = lanecrypt::find_slh_set(enum_number(set));
  return found == nullptr ? 0 : found->signature_bytes();
}

size_t lc_slh_dsa_tree_bytes(lc_slh_dsa_set set) {
  const SlhSet *const found = lanecrypt::find_slh_set(enum_number(set));
  return found == nullptr ? 0 : found->kept_bytes();
}

lc_status lc_slh_dsa_key_new(const lc_slh_dsa_parts *parts, lc_slh_dsa_key **key) {
  return guarded([&]() -> lc_status {
    if (key == nullptr) return report(LC_ERROR_ARGUMENT, "no place for the key");
    *key = nullptr;
    Result<std::shared_ptr<lanecrypt::SlhKey>> copied = lanecrypt::copy_slh_key(parts);
    if (!copied.ok()) return report(copied.status());
    if (const Status status = lanecrypt::cpu::prepare(**copied); !status.ok())
      return report(status);
    *key = new lc_slh_dsa_key{*copied};
    return LC_OK;
  });
}

void lc_slh_dsa_key_free(lc_slh_dsa_key *key) { delete key; }

lc_status lc_slh_dsa_run(lc_context *context, const lc_slh_dsa_job *job, lc_result *result) {
  return lanecrypt::abi::run<lc_slh_dsa_job>(start<true>, context, job, result);
}

lc_status lc_slh_dsa_submit(lc_context *context, const lc_slh_dsa_job *job,
                            const lc_completion *completion, lc_ticket **ticket) {
  return lanecrypt::abi::submit<lc_slh_dsa_job>(start<false>, context, job, completion, ticket);
}

lc_status lc_slh_dsa_generate(lc_context *context, const lc_slh_dsa_generation *generation,
                              lc_result *result) {
  return lanecrypt::abi::run<lc_slh_dsa_generation>(start, context, generation, result);
}

lc_status lc_slh_dsa_submit_generation(lc_context *context, const lc_slh_dsa_generation *generation,
                                       const lc_completion *completion, lc_ticket **ticket) {
  return lanecrypt::abi::submit<lc_slh_dsa_generation>(start, context, generation, completion,
                                                       ticket);
}

int lc_slh_dsa_prefers_device(lc_context *context, lc_slh_dsa_set set,
                              lc_slh_dsa_operation operation, uint32_t in_line) {
  const SlhSet *const found = set_of_choice(context, set, operation);
  if (found == nullptr) return 0;
  const lanecrypt::abi::Call call;
  try {
    if (auto *remote = remote_operations_for(context, *found, operation); remote != nullptr)
      return remote->prefers_device(operation_kind_of(*found), in_line) ? 1 : 0;
    return context->slh_choice().is_device_sooner(*found, operation, in_line) ? 1 : 0;
  } catch (...) {  // out of memory or threads
    return 0;
  }
}

void lc_slh_dsa_report_cpu_time(lc_context *context, lc_slh_dsa_set set,
                                lc_slh_dsa_operation operation, uint64_t nanoseconds) {
  const SlhSet *const found = set_of_choice(context, set, operation);
  if (found == nullptr) return;
  try {
    if (auto *remote = remote_operations_for(context, *found, operation); remote != nullptr)
      return remote->report_cpu_time(operation_kind_of(*found),
                                     std::chrono::nanoseconds(nanoseconds));
    context->slh_choice().report_cpu_time(*found, operation, std::chrono::nanoseconds(nanoseconds));
  } catch (...) {
  }
}
