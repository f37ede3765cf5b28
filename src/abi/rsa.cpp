// The functions of the C ABI for RSA: keys, jobs, key generation, and the choice between a device
// and the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <utility>

#include "abi/rsa_primes.h"
#include "abi/ticket.h"
#include "cpu/rsa/cpu_rsa.h"
#include "job/rsa_generation.h"
#include "job/rsa_job.h"
#include "rsa/rsa_request.h"
#include "service/wire/operation_kind.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::check_result;
using lanecrypt::abi::give;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;
using lanecrypt::runtime::Completion;
using lanecrypt::runtime::CompletionPointer;
using lanecrypt::runtime::RsaRequest;

struct lc_rsa_key {
  lanecrypt::RsaKeyPointer key;
};

namespace {

const lanecrypt::RsaKeyPointer &key_of(const lc_rsa_key *key) { return key->key; }

// operation_kind_of() returns the operation kind in the service's protocol.
lanecrypt::service::OperationKind operation_kind_of(uint32_t bits) {
  return {lanecrypt::service::Family::kRsa, bits};
}

// start() checks the job and submits it to the service or to a device. `waits`: the caller waits,
// so the service's answer needs no thread of ours.
template <bool waits>
Status start(lc_context *context, const lc_rsa_job *job, Completion::Callback callback,
             CompletionPointer *started) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  Result<lanecrypt::RsaJob> checked = lanecrypt::make_rsa_job(job, key_of);
  if (!checked.ok()) return checked.status();
  const auto request = std::make_shared<RsaRequest>(std::move(*checked), std::move(callback));
  *started = request;
  const bool may_be_remote =
      request->job.operation == LC_RSA_PRIVATE && request->job.device == LC_ANY_DEVICE;
  if (auto *const remote = may_be_remote ? context->remote_operations() : nullptr;
      remote != nullptr)
    return remote->submit(lanecrypt::remote::wrap(request), waits);
  return context->dispatcher().submit(request);
}

}  // namespace

lc_status lc_rsa_key_new(const lc_rsa_parts *parts, lc_rsa_key **key) {
  return guarded([&]() -> lc_status {
    if (key == nullptr) return report(LC_ERROR_ARGUMENT, "no place for the key");
    *key = nullptr;
    Result<std::shared_ptr<lanecrypt::RsaKey>> copied = lanecrypt::copy_rsa_key(parts);
    if (!copied.ok()) return report(copied.status());
    if (const Status status = lanecrypt::cpu::prepare(**copied); !status.ok())
      return report(status);
    *key = new lc_rsa_key{*copied};
    return LC_OK;
  });
}

void lc_rsa_key_free(lc_rsa_key *key) { delete key; }

size_t lc_rsa_key_bytes(const lc_rsa_key *key) {
  return key == nullptr ? 0 : key->key->modulus_bytes;
}

int lc_rsa_key_has_primes(const lc_rsa_key *key) {
  if (key == nullptr || !key->key->is_private) return -1;
  // A round takes half as long as a private-key operation.
  const uint32_t bits = key->key->modulus_bits;
  const unsigned rounds = bits <= 2048 ? 3 : bits <= 4096 ? 2 : 1;
  try {
    Result<bool> primes = lanecrypt::cpu::has_primes(*key->key, rounds);
    return !primes.ok() ? -1 : *primes ? 1 : 0;
  } catch (...) {  // out of memory
    return -1;
  }
}

lc_status lc_rsa_run(lc_context *context, const lc_rsa_job *job, lc_result *result) {
  return lanecrypt::abi::run(start<true>, context, job, result);
}

lc_status lc_rsa_submit(lc_context *context, const lc_rsa_job *job, const lc_completion *completion,
                        lc_ticket **ticket) {
  return lanecrypt::abi::submit(start<false>, context, job, completion, ticket);
}

int lc_rsa_prefers_device(lc_context *context, uint32_t bits, uint32_t in_line) {
  if (context == nullptr) return 0;
  const lanecrypt::abi::Call call;
  try {
    if (auto *remote = context->remote_operations(); remote != nullptr)
      return lanecrypt::runtime::rsa_kind(bits) != 0 &&
                     remote->prefers_device(operation_kind_of(bits), in_line)
                 ? 1
                 : 0;
    return context->rsa_choice().is_device_sooner(bits, in_line) ? 1 : 0;
  } catch (...) {  // out of memory or threads
    return 0;
  }
}

void lc_rsa_report_cpu_time(lc_context *context, uint32_t bits, uint64_t nanoseconds) {
  if (context == nullptr) return;
  try {
    if (auto *remote = context->remote_operations(); remote != nullptr)
      return remote->report_cpu_time(operation_kind_of(bits),
                                     std::chrono::nanoseconds(nanoseconds));
    context->rsa_choice().report_cpu_time(bits, std::chrono::nanoseconds(nanoseconds));
  } catch (...) {
  }
}

lc_status lc_rsa_generate(lc_context *context, const lc_rsa_generation *generation,
                          lc_result *result) {
  return guarded([&]() -> lc_status {
    if (context == nullptr) return report(LC_ERROR_ARGUMENT, "no context was given");
    if (const Status status = check_result(result); !status.ok()) return report(status);
    Result<lanecrypt::RsaGeneration> checked = lanecrypt::make_rsa_generation(generation);
    if (!checked.ok()) return report(checked.status());
    lc_result made = {};
    auto *const remote = checked->device == LC_ANY_DEVICE ? context->remote_operations() : nullptr;
    const Status status = remote != nullptr
                              ? remote->generation().run(std::move(*checked), &made)
                              : context->dispatcher().generate(std::move(*checked), &made);
    if (result != nullptr) (void)give(made, result, "");
    return report(status);
  });
}

int lc_rsa_generation_prefers_device(lc_context *context, uint32_t bits) {
  if (context == nullptr) return 0;
  const lanecrypt::abi::Call call;
  try {
    if (auto *remote = context->remote_operations(); remote != nullptr)
      return remote->generation().prefers_device(bits) ? 1 : 0;
    return context->generation_prefers_device(bits) ? 1 : 0;
  } catch (...) {  // out of memory or threads
    return 0;
  }
}
