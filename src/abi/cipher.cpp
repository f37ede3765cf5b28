// Jobs of ciphers.
//
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <utility>

#include "abi/ticket.h"
#include "job/cipher_job.h"
#include "work/request.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::runtime::Ending;
using lanecrypt::runtime::EndingPointer;
using lanecrypt::runtime::Request;

namespace {

Status start(lc_context *context, const lc_cipher_job *job, Ending::Callback callback,
             EndingPointer *started) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  const auto run_parts = [context](size_t count, const std::function<void(size_t)> &part) {
    context->dispatcher().workers().share(count, part);
  };
  Result<lanecrypt::CipherJob> checked = lanecrypt::make_cipher_job(job, run_parts);
  if (!checked.ok()) return checked.status();
  const auto request = std::make_shared<Request>(std::move(*checked), std::move(callback));
  *started = request;
  const bool has_stream = request->job.stream != nullptr;
  LC_TRY(context->dispatcher().submit(request));
  if (has_stream) request->wait_enqueued();
  return Status();
}

}  // namespace

lc_status lc_run(lc_context *context, const lc_cipher_job *job, lc_result *result) {
  return lanecrypt::abi::run(start, context, job, result);
}

lc_status lc_submit(lc_context *context, const lc_cipher_job *job, const lc_completion *completion,
                    lc_ticket **ticket) {
  return lanecrypt::abi::submit(start, context, job, completion, ticket);
}
