// How a job of any kind is run, or submitted with a ticket.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "abi/boundary.h"
#include "thread/ending.h"
#include "thread/job_owner.h"

struct lc_ticket {
  lanecrypt::runtime::EndingPointer request;
};

namespace lanecrypt::abi {

using runtime::Ending;
using runtime::EndingPointer;

// Checks a job, and gives it to the dispatcher.
template <typename Job>
using Start = Status (*)(lc_context *context, const Job *job, Ending::Callback callback,
                         EndingPointer *started);

Status check_completion(const lc_completion *completion);
Ending::Callback make_callback(const lc_completion *completion);
// 0 if there is none.
uint64_t owner_of(const lc_completion *completion);
// Waits until the request has ended.
lc_status finish(Ending &request, lc_result *result);

template <typename Job>
lc_status run(Start<Job> start, lc_context *context, const Job *job, lc_result *result) {
  return guarded([&]() -> lc_status {
    EndingPointer request;
    if (const Status status = check_result(result); !status.ok()) return tell(status);
    if (const Status status = start(context, job, nullptr, &request); !status.ok())
      return tell(status);
    return finish(*request, result);
  });
}

// in_stream: the order of a stream may be all that the caller needs.
template <typename Job>
lc_status submit(Start<Job> start, lc_context *context, const Job *job,
                 const lc_completion *completion, lc_ticket **ticket, bool in_stream = false) {
  return guarded([&]() -> lc_status {
    const bool tells_nobody = completion == nullptr && ticket == nullptr;
    if (tells_nobody && !in_stream)
      return tell(LC_ERROR_ARGUMENT, "neither a completion nor a place for the ticket");
    if (const Status status = check_completion(completion); !status.ok()) return tell(status);
    // It would wait for this thread.
    if (in_stream && Ending::tells_here())
      return tell(LC_ERROR_ARGUMENT, "a completion's callback can start no job in a stream");
    auto made = std::make_unique<lc_ticket>();
    const runtime::JobOwner owner(owner_of(completion));
    if (const Status status = start(context, job, make_callback(completion), &made->request);
        !status.ok())
      return tell(status);
    if (tells_nobody) return tell(made->request->wait_enqueued());
    if (ticket != nullptr) *ticket = made.release();
    return LC_OK;
  });
}

}  // namespace lanecrypt::abi
