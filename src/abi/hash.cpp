// The functions of the C ABI that run hash jobs.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <utility>

#include "abi/ticket.h"
#include "cpu/hash/cpu_hash.h"
#include "hash/hash_request.h"
#include "job/hash_job.h"
#include "job/read_struct.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::runtime::Completion;
using lanecrypt::runtime::CompletionPointer;
using lanecrypt::runtime::HashRequest;

namespace {

Status start(lc_context *context, const lc_hash_job *job, Completion::Callback callback,
             CompletionPointer *started) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  Result<lanecrypt::HashJob> checked = lanecrypt::make_hash_job(job);
  if (!checked.ok()) return checked.status();
  LC_TRY(lanecrypt::cpu::prepare_hash(&checked->spec));
  const auto request = std::make_shared<HashRequest>(std::move(*checked), std::move(callback));
  *started = request;
  LC_TRY(context->dispatcher().submit(request));
  // The job is in the order of the stream from here on. The ticket reports a failure.
  if (request->job.stream != nullptr) (void)request->wait_enqueued();
  return Status();
}

}  // namespace

lc_status lc_hash_run(lc_context *context, const lc_hash_job *job, lc_result *result) {
  return lanecrypt::abi::run(start, context, job, result);
}

lc_status lc_hash_submit(lc_context *context, const lc_hash_job *job,
                         const lc_completion *completion, lc_ticket **ticket) {
  const bool in_stream =
      job != nullptr && lanecrypt::has_known_size(*job) && job->stream != nullptr;
  return lanecrypt::abi::submit(start, context, job, completion, ticket, in_stream);
}
