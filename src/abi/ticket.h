// How a job of any kind is run, or submitted with a ticket.
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

// Checks a job, and gives it to the dispatcher.
template <typename Job>
using Start = Status (*)(lc_context *context, const Job *job, Completion::Callback callback,
                         CompletionPointer *started);

Status check_completion(const lc_completion *completion);
Completion::Callback make_callback(const lc_completion *completion);
// 0 if there is none.
uint64_t owner_of(const lc_completion *completion);
// Waits until the request has ended.
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

// in_stream: the order of a stream may be all that the caller needs.
template <typename Job>
lc_status submit(Start<Job> start, lc_context *context, const Job *job,
                 const lc_completion *completion, lc_ticket **ticket, bool in_stream = false) {
  return guarded([&]() -> lc_status {
    const bool is_detached = completion == nullptr && ticket == nullptr;
    if (is_detached && !in_stream)
      return report(LC_ERROR_ARGUMENT, "neither a completion nor a place for the ticket");
    if (const Status status = check_completion(completion); !status.ok()) return report(status);
    // It would wait for this thread.
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
