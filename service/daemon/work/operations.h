// Operations with private keys: passes them from the clients' lines to the library, and the results
// back to the clients.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "lanecrypt/lanecrypt.h"
#include "service/daemon/client/channel.h"
#include "service/daemon/report/counters.h"
#include "service/daemon/work/fair_queue.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::daemon {

// Thread-safe. The caller must hold no lock.
class Operations {
 public:
  // `on_trouble` is called with `argument` when a device failed to do an operation.
  Operations(StatusPage &page, Counters &counters, void (*on_trouble)(void *), void *argument);

  // Lets operations go to the library from now on.
  void open(lc_context *context) { context_ = context; }

  // Counts a request that has begun on a channel. finish() takes it out of the count.
  void arrive(Channel &channel, const OperationKind &operation_kind);
  // Queues an operation whose key has been checked, or passes it to the library at once.
  void wait(Channel &channel);
  // Passes waiting operations to the library for as long as the window has room.
  void give();
  // Answers a request and takes it out of the count.
  void finish(Channel &channel, Outcome outcome);

  // Drops the waiting operations of a session that has ended.
  void drop(Session &session);
  // Refuses operations that have waited longer than kMostWait.
  void send_away_late();

  // stop() drops all that waits and accepts nothing more. await_all() waits for the operations that
  // the library has; it returns false if that takes longer than `limit`.
  void stop();
  bool await_all(std::chrono::milliseconds limit);

 private:
  static void ended(void *argument, lc_status status) noexcept;
  bool takes_at_once(size_t cost);
  void submit(Channel &channel);
  void leave_window(size_t cost);
  void refuse(Waiting *chain, Outcome outcome);
  lc_status give_to_library(Channel &channel, const lc_completion &completion);
  void count_done(const Channel &channel, Clock::time_point now);

  StatusPage &page_;
  Counters &counters_;
  void (*const on_trouble_)(void *);
  void *const argument_;
  std::atomic<lc_context *> context_ = nullptr;
  std::mutex mutex_;  // protects queue_
  std::condition_variable all_ended_;
  FairQueue queue_;
  std::atomic<size_t> waiting_ = 0;    // copy of queue_.waiting(), readable without the lock
  std::atomic<size_t> in_window_ = 0;  // cost of the operations that the library has
  std::atomic<bool> stopping_ = false;
};

}  // namespace lanecrypt::service::daemon
