// Operations that one thread has with the service: as many at once as there are channels for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "served/served_request.h"
#include "served/service.h"
#include "service/client/operation.h"

namespace lanecrypt::served {

// One thread.
class Crossing {
 public:
  using OnOver = std::function<void(ServedRequest &)>;

  // on_over hears of each request when the service has no more of it, on the thread that calls
  // step(). The service stays longer.
  Crossing(const Service &service, OnOver on_over);
  ~Crossing();
  Crossing(const Crossing &) = delete;

  // Of its operations those that devices take.
  void add(const ServedRequestPointer &served);
  bool is_idle() const { return waiting_.empty() && slots_.empty(); }
  // Sends what there is room for, and takes the answers that are there. If there are none, it
  // waits for one until `wake` is readable (-1: nothing wakes it), but no longer than a second.
  // For want of memory it leaves what it cannot send, and throws nothing.
  void step(int wake);
  // Does not send what waits.
  void leave_waiting();

 private:
  struct Operation {
    ServedRequestPointer served;
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
  void leave(const Operation &operation, client::Taken taken);
  void finish_one(ServedRequest &served);

  const Service &service_;
  const OnOver on_over_;
  std::deque<Operation> waiting_;
  std::vector<std::unique_ptr<Slot>> slots_;
  // Of the slots in their order, and of what wakes.
  std::vector<pollfd> polled_;
};

}  // namespace lanecrypt::served
