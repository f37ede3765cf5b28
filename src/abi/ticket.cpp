// Tickets, and telling the caller that a job has ended.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/ticket.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "work/request.h"

namespace lanecrypt::abi {

Status check_completion(const lc_completion *completion) {
  // The first version ended before `result`.
  if (completion != nullptr && completion->struct_size < offsetof(lc_completion, result))
    return Status(LC_ERROR_ARGUMENT, "lc_completion.struct_size is too small");
  return Status();
}

Ending::Callback make_callback(const lc_completion *completion) {
  if (completion == nullptr) return nullptr;
  lc_completion told = {};
  memcpy(&told, completion, std::min(completion->struct_size, sizeof told));
  return [completion = told](const Status &status, const lc_result &result) {
    if (completion.result != nullptr) (void)give(result, completion.result, "");
    if (completion.callback != nullptr) completion.callback(completion.argument, status.code());
    if (completion.eventfd >= 0) (void)eventfd_write(completion.eventfd, 1);
  };
}

lc_status finish(Ending &request, lc_result *result) {
  const Status status = request.wait();
  if (result != nullptr) (void)give(request.result, result, "");
  return tell(status);
}

}  // namespace lanecrypt::abi

using lanecrypt::Status;
using lanecrypt::abi::check_result;
using lanecrypt::abi::finish;
using lanecrypt::abi::give;
using lanecrypt::abi::guarded;
using lanecrypt::abi::tell;

namespace {

// Whether the caller is to see to it that the end is noticed, which he does here.
bool bring_about(const lc_ticket &ticket, bool waits) {
  if (ticket.in_stream == nullptr || !ticket.in_stream->bring_about) return false;
  ticket.in_stream->bring_about(waits);
  return true;
}

bool has_ended(const lc_ticket &ticket, Status *status) {
  if (ticket.request->ended(status)) return true;
  return bring_about(ticket, false) && ticket.request->ended(status);
}

}  // namespace

lc_status lc_ticket_status(const lc_ticket *ticket) {
  if (ticket == nullptr) return tell(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    Status status;
    return has_ended(*ticket, &status) ? tell(status) : LC_PENDING;
  });
}

lc_status lc_ticket_result(const lc_ticket *ticket, lc_result *result) {
  if (ticket == nullptr) return tell(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    if (const Status status = check_result(result); !status.ok()) return tell(status);
    Status status;
    if (!has_ended(*ticket, &status)) return LC_PENDING;
    if (result != nullptr) (void)give(ticket->request->result, result, "");
    return tell(status);
  });
}

lc_status lc_ticket_wait(lc_ticket *ticket, lc_result *result) {
  if (ticket == nullptr) return tell(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    if (const Status status = check_result(result); !status.ok()) return tell(status);
    if (Status status; !ticket->request->ended(&status)) (void)bring_about(*ticket, true);
    return finish(*ticket->request, result);
  });
}

void lc_ticket_free(lc_ticket *ticket) { delete ticket; }
