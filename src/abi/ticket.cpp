// Tickets, and the ways in which a caller learns that a job is complete.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/ticket.h"

#include <sys/eventfd.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

namespace lanecrypt::abi {
namespace {

// may_be_eventfd() says whether the descriptor can be an eventfd: fstat() reports no file type for
// one. It is used for descriptor 0, because a zero-initialised field must not be taken for standard
// input, which is often a terminal or a socket. But eventfd() may return 0 in a process that has
// closed its standard input.
bool may_be_eventfd(int descriptor) {
  struct stat its;
  return fstat(descriptor, &its) == 0 && (its.st_mode & S_IFMT) == 0;
}

}  // namespace

Status check_completion(const lc_completion *completion) {
  // The first version of the struct ended before `result`.
  if (completion != nullptr && completion->struct_size < offsetof(lc_completion, result))
    return Status(LC_ERROR_ARGUMENT, "lc_completion.struct_size is too small");
  return Status();
}

Completion::Callback make_callback(const lc_completion *completion) {
  if (completion == nullptr) return nullptr;
  lc_completion given = {};
  memcpy(&given, completion, std::min(completion->struct_size, sizeof given));
  if (given.eventfd == 0 && !may_be_eventfd(0)) given.eventfd = -1;
  return [completion = given](const Status &status, const lc_result &result) {
    if (completion.result != nullptr) (void)give(result, completion.result, "");
    if (completion.callback != nullptr) completion.callback(completion.argument, status.code());
    if (completion.eventfd >= 0) (void)eventfd_write(completion.eventfd, 1);
  };
}

uint64_t owner_of(const lc_completion *completion) {
  // The first versions of the struct ended before `owner`.
  constexpr size_t kBytes = offsetof(lc_completion, owner) + sizeof completion->owner;
  return completion == nullptr || completion->struct_size < kBytes ? 0 : completion->owner;
}

lc_status finish(Completion &request, lc_result *result) {
  const Status status = request.wait();
  if (result != nullptr) (void)give(request.result, result, "");
  return report(status);
}

}  // namespace lanecrypt::abi

using lanecrypt::Status;
using lanecrypt::abi::check_completion;
using lanecrypt::abi::check_result;
using lanecrypt::abi::finish;
using lanecrypt::abi::give;
using lanecrypt::abi::guarded;
using lanecrypt::abi::make_callback;
using lanecrypt::abi::report;
using lanecrypt::runtime::CompletionPointer;
using lanecrypt::runtime::Deadline;
using lanecrypt::runtime::kAtOnce;
using lanecrypt::runtime::kWhenever;

namespace {

// poll_until_done() drives the completion if that is the caller's task, because no thread of ours
// does it. It returns whether it is the caller's task.
bool poll_until_done(const lc_ticket &ticket, Deadline deadline) {
  if (!ticket.request->poll_until_done || ticket.request->has_callback()) return false;
  ticket.request->poll_until_done(deadline);
  return true;
}

bool has_ended(const lc_ticket &ticket, Status *status) {
  if (ticket.request->ended(status)) return true;
  return poll_until_done(ticket, kAtOnce) && ticket.request->ended(status);
}

}  // namespace

lc_status lc_ticket_status(const lc_ticket *ticket) {
  if (ticket == nullptr) return report(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    Status status;
    return has_ended(*ticket, &status) ? report(status) : LC_PENDING;
  });
}

lc_status lc_ticket_result(const lc_ticket *ticket, lc_result *result) {
  if (ticket == nullptr) return report(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    if (const Status status = check_result(result); !status.ok()) return report(status);
    Status status;
    if (!has_ended(*ticket, &status)) return LC_PENDING;
    if (result != nullptr) (void)give(ticket->request->result, result, "");
    return report(status);
  });
}

lc_status lc_ticket_wait(lc_ticket *ticket, lc_result *result) {
  if (ticket == nullptr) return report(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    if (const Status status = check_result(result); !status.ok()) return report(status);
    if (Status status; !ticket->request->ended(&status)) (void)poll_until_done(*ticket, kWhenever);
    return finish(*ticket->request, result);
  });
}

lc_status lc_ticket_wait_for(lc_ticket *ticket, uint64_t nanoseconds, lc_result *result) {
  if (ticket == nullptr) return report(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    if (const Status status = check_result(result); !status.ok()) return report(status);
    // A longer time would overflow some clocks.
    constexpr uint64_t kCentury = 100ULL * 365 * 24 * 3600 * 1'000'000'000;
    const std::chrono::nanoseconds limit(static_cast<int64_t>(std::min(nanoseconds, kCentury)));
    const Deadline deadline = limit.count() == 0 ? kAtOnce : Deadline::clock::now() + limit;
    Status status;
    if (!ticket->request->ended(&status)) (void)poll_until_done(*ticket, deadline);
    if (!ticket->request->wait_until(deadline, &status)) return LC_PENDING;
    if (result != nullptr) (void)give(ticket->request->result, result, "");
    return report(status);
  });
}

lc_status lc_ticket_notify(lc_ticket *ticket, const lc_completion *completion) {
  if (ticket == nullptr) return report(LC_ERROR_ARGUMENT, "no ticket was given");
  if (completion == nullptr) return report(LC_ERROR_ARGUMENT, "no completion was given");
  return guarded([&]() -> lc_status {
    if (const Status status = check_completion(completion); !status.ok()) return report(status);
    // The callback may free the ticket.
    const CompletionPointer request = ticket->request;
    request->add_callback(make_callback(completion));
    // The device's thread now drives the completion that the caller had to drive.
    if (request->poll_until_done) request->poll_until_done(kAtOnce);
    return LC_OK;
  });
}

void lc_ticket_free(lc_ticket *ticket) { delete ticket; }
