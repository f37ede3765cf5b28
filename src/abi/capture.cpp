// Jobs of ciphers in CUDA graphs.
//
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "abi/boundary.h"
#include "job/cipher/replays.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;
using lanecrypt::runtime::CapturedJob;
using lanecrypt::runtime::Dispatcher;
using lanecrypt::runtime::Executor;

namespace {

// The handle is the address alone, which is looked up.
const CapturedJob *job_of(const lc_captured *captured) {
  return reinterpret_cast<const CapturedJob *>(captured);
}

Result<const CapturedJob *> capture(lc_context *context, const lc_cipher_job *job,
                                    const lc_replays *given) {
  Result<lanecrypt::CipherJob> checked = lanecrypt::make_cipher_job(job, nullptr, true);
  if (!checked.ok()) return checked.status();
  Result<lanecrypt::Replays> replays = lanecrypt::read_replays(given, *checked, job->direction);
  if (!replays.ok()) return replays.status();
  const auto request = std::make_shared<lanecrypt::runtime::Request>(std::move(*checked), nullptr);
  Result<Executor *> executor = context->dispatcher().settle_on_device(*request);
  if (!executor.ok()) return executor.status();
  return (*executor)->capture(request, *replays);
}

}  // namespace

lc_status lc_capture(lc_context *context, const lc_cipher_job *job, const lc_replays *replays,
                     lc_captured **captured) {
  return guarded([&]() -> lc_status {
    if (context == nullptr || captured == nullptr)
      return report(LC_ERROR_ARGUMENT, "no context, or no place for what is captured");
    if (lanecrypt::runtime::Completion::in_callback())
      return report(LC_ERROR_ARGUMENT, "a completion's callback can capture nothing");
    Result<const CapturedJob *> made = capture(context, job, replays);
    if (!made.ok()) return report(made.status());
    *captured = reinterpret_cast<lc_captured *>(const_cast<CapturedJob *>(*made));
    return LC_OK;
  });
}

lc_status lc_captured_free(lc_context *context, lc_captured *captured) {
  return guarded([&]() -> lc_status {
    if (captured == nullptr) return LC_OK;
    if (context == nullptr) return report(LC_ERROR_ARGUMENT, "no context was given");
    Dispatcher &dispatcher = context->dispatcher();
    for (uint32_t index = 0; index < dispatcher.device_count(); ++index)
      if (Executor *const executor = dispatcher.device(index);
          executor->has_captured(job_of(captured)))
        return report(executor->free_captured(job_of(captured)));
    return report(LC_ERROR_ARGUMENT, "nothing of this context was captured so");
  });
}
