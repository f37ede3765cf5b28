// SPDX-License-Identifier: Apache-2.0
#include "remote/private_operations.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <new>

#include "process/thread.h"
#include "remote/service_submitter.h"
#include "thread/signals.h"

namespace lanecrypt::remote {

PrivateOperations::PrivateOperations(Service service)
    : service_(std::move(service)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), client::OwnDescriptor::Number::kHigh) {}

void PrivateOperations::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    if (wake_.is_ours()) (void)eventfd_write(wake_.get(), 1);
  }
  if (thread_.joinable()) thread_.join();
  cpu_.stop();
  generation_.stop();
}

void PrivateOperations::cancel_pending() {
  cancels_pending_ = true;
  cpu_.cancel_pending();
  generation_.cancel_pending();
}

Status PrivateOperations::submit(const RemoteRequestPointer &remote, bool waits) {
  runtime::BatchRequest &request = *remote->request;
  if (request.todo.empty()) {
    request.end();
    return Status();
  }
  for (const uint32_t number : request.todo)
    if (!service_.has_cpu && !request.kind_of(number).suits_devices())
      return Status(LC_ERROR_UNSUPPORTED, "no device takes keys such as these");
  request.submitted = std::chrono::steady_clock::now();
  if (waits) {
    ServiceSubmitter mine(service_, [this](RemoteRequest &over) { conclude(over); });
    for (mine.add(remote); !mine.is_idle();) mine.step(-1);
    return Status();
  }
  const std::lock_guard lock(mutex_);
  if (stopping_) return process_ends();
  if (!thread_.joinable()) {
    auto its = std::make_unique<ServiceSubmitter>(service_,
                                                  [this](RemoteRequest &over) { conclude(over); });
    const runtime::SignalsBlocked blocked;
    thread_ = process::start_thread([this, mine = std::move(its)] { run(*mine); });
  }
  queue_.push_back(remote);
  changed_.notify_all();
  if (wake_.is_ours()) (void)eventfd_write(wake_.get(), 1);
  return Status();
}

// The body of the thread: takes the submitted requests and steps through their operations.
void PrivateOperations::run(ServiceSubmitter &mine) {
  for (;;) {
    std::vector<RemoteRequestPointer> more;
    {
      std::unique_lock lock(mutex_);
      if (mine.is_idle()) changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      more.swap(queue_);
      if (stopping_ && more.empty() && mine.is_idle()) return;
    }
    for (const RemoteRequestPointer &remote : more) mine.add(remote);
    if (cancels_pending_) mine.leave_waiting();
    const int wake = wake_.is_ours() ? wake_.get() : -1;
    mine.step(wake);
    eventfd_t times;
    if (wake >= 0) (void)eventfd_read(wake, &times);
  }
}

// Completes a request of which the service has no more operations. What it has not done goes to the
// CPU, or is an error.
void PrivateOperations::conclude(RemoteRequest &remote) {
  const runtime::BatchRequestPointer request = remote.request;
  if (remote.has_failed) request->tried.push_back(LC_ANY_DEVICE);
  if (remote.left.empty() || !request->failure.ok()) return request->end();
  if (!service_.has_cpu) {
    request->failure = why_not(remote);
    return request->end();
  }
  request->todo = std::move(remote.left);
  cpu_.submit(request);
}

Status PrivateOperations::why_not(const RemoteRequest &remote) const {
  try {
    return service_.why_not(remote.has_failed, "do the operation");
  } catch (const std::bad_alloc &) {
    return Status(LC_ERROR_MEMORY, "");
  }
}

bool PrivateOperations::prefers_device(const service::OperationKind &operation_kind,
                                       uint32_t in_line) {
  client::Connection &connection = service_.client->here();
  client::Choice &choice = connection.choice();
  const bool is_worth_it = choice.is_worth_connecting(operation_kind.family, in_line);
  std::shared_ptr<client::Session> session = connection.session();
  if (session == nullptr && is_worth_it && connection.may_connect())
    session = connection.connect(false);
  if (session == nullptr) return false;
  if (choice.wants_look(*session)) session->look_again();
  if (choice.is_service_sooner(operation_kind, in_line)) return true;
  on_cpu_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void PrivateOperations::report_cpu_time(const service::OperationKind &operation_kind,
                                        std::chrono::nanoseconds took) {
  // If there was no session to ask, prefers_device() has not counted its caller.
  uint32_t counted = on_cpu_.load(std::memory_order_relaxed);
  while (counted != 0 && !on_cpu_.compare_exchange_weak(counted, counted - 1)) {
  }
  if (counted != 0) service_.client->here().choice().report_cpu_time(operation_kind, took);
}

}  // namespace lanecrypt::remote
