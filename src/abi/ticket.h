// Runs a job of any kind, or submits it with a ticket.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "abi/boundary.h"
#include "thread/completion.h"
#include "thread/job_owner.h"

struct lc_ticket {
  lanecrypt::runtime::CompletionPointer request;
};

namespace lanecrypt::abi {

using runtime::Completion;
using runtime::CompletionPointer;

// Start is a function that checks a job and gives it to the dispatcher. It sets `*started` to the
// request.
template <typename Job>
using Start = Status (*)(lc_context *context, const Job *job, Completion::Callback callback,
                         CompletionPointer *started);

// check_completion() checks the size of the struct.
Status check_completion(const lc_completion *completion);
// make_callback() returns a callback that reports to the caller as `completion` says; nullptr if
// there is none.
Completion::Callback make_callback(const lc_completion *completion);
// owner_of() returns the owner of the job; 0 if there is none.
uint64_t owner_of(const lc_completion *completion);
// finish() blocks until the request is complete, and stores its result.
lc_status finish(Completion &request, lc_result *result);

template <typename Job>
lc_status run(Start<Job> start, lc_context *context, const Job *job, lc_result *result) {
  return guarded([&]() -> lc_status {
    CompletionPointer request;
    if (const Status status = check_result(result); !status.ok()) return report(status);
    if (const Status status = start(context, job, nullptr, &request); !status.ok())
      return report(status);
    return finish(*request, result);
  });
}

// submit() starts a job and returns a ticket. `in_stream`: the job is in the order of a stream,
// which may be all that the caller needs, so the completion and the ticket may be missing.
template <typename Job>
lc_status submit(Start<Job> start, lc_context *context, const Job *job,
                 const lc_completion *completion, lc_ticket **ticket, bool in_stream = false) {
  return guarded([&]() -> lc_status {
    const bool is_detached = completion == nullptr && ticket == nullptr;
    if (is_detached && !in_stream)
      return report(LC_ERROR_ARGUMENT, "neither a completion nor a place for the ticket");
    if (const Status status = check_completion(completion); !status.ok()) return report(status);
    // The job would wait for this thread.
    if (in_stream && Completion::in_callback())
      return report(LC_ERROR_ARGUMENT, "a completion's callback can start no job in a stream");
    auto made = std::make_unique<lc_ticket>();
    const runtime::JobOwner owner(owner_of(completion));
    if (const Status status = start(context, job, make_callback(completion), &made->request);
        !status.ok())
      return report(status);
    if (is_detached) return report(made->request->wait_enqueued());
    if (ticket != nullptr) *ticket = made.release();
    return LC_OK;
  });
}

}  // namespace lanecrypt::abi
