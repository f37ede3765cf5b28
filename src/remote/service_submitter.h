// Sends operations to the service, as many at once as there are channels for, and receives the
// answers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "remote/remote_request.h"
#include "remote/service.h"
#include "service/client/operation.h"

namespace lanecrypt::remote {

// Not thread-safe.
class ServiceSubmitter {
 public:
  using OnOver = std::function<void(RemoteRequest &)>;

  // `on_over` is called for each request of which the service has no more operations, on the thread
  // that uses this object. `service` must outlive the object.
  ServiceSubmitter(const Service &service, OnOver on_over);
  ~ServiceSubmitter();
  ServiceSubmitter(const ServiceSubmitter &) = delete;

  // Queues the operations of a request that devices can do. The others go into RemoteRequest::left.
  void add(const RemoteRequestPointer &remote);
  bool is_idle() const { return waiting_.empty() && slots_.empty(); }
  // Sends what there is room for and receives the answers that are there. If there are none, waits
  // for one until `wake` is readable (-1: nothing wakes it), up to a second. Without memory it puts
  // operations that it cannot send into RemoteRequest::left; it does not throw.
  void step(int wake);
  // Puts all waiting operations into RemoteRequest::left.
  void leave_waiting();

 private:
  struct Operation {
    RemoteRequestPointer remote;
    uint32_t number;
  };
  struct Slot;

  bool put_in_line(Operation operation);
  void send_waiting(client::Connection &connection);
  bool send_one(client::Connection &connection, const std::shared_ptr<client::Session> &session);
  void note_failed_poll();
  void take_answers();
  void settle(Slot &slot, client::Exchange::State state);
  static bool is_right(const Slot &slot);
  void count_done(const Slot &slot) const;
  void leave(const Operation &operation, OffloadResult taken);
  void finish_one(RemoteRequest &remote);

  const Service &service_;
  const OnOver on_over_;
  std::deque<Operation> waiting_;
  std::vector<std::unique_ptr<Slot>> slots_;
  // One entry for each slot, in their order, and one for `wake`.
  std::vector<pollfd> polled_;
};

}  // namespace lanecrypt::remote
