// Operations with private keys on their way: from the clients' lines to the library, and the
// results back to the clients.
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
#include "service/daemon/work/turns.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::daemon {

// Any thread, with no lock held.
class Operations {
 public:
  // on_trouble: called when a device did not do what it was given.
  Operations(StatusPage &page, Counters &counters, void (*on_trouble)(void *), void *argument);

  // From now on the library takes operations.
  void open(lc_context *context) { context_ = context; }

  // Counts a request that has begun on a channel. finish() undoes that.
  void arrive(Channel &channel, const Sort &sort);
  // Puts it into its client's line. Its key is checked.
  void wait(Channel &channel);
  // Gives the library what it may have now.
  void give();
  // Answers it, and takes it out of the counters.
  void finish(Channel &channel, Outcome outcome);

  // Drops what a session that has ended waits for.
  void drop(Session &session);
  // Sends away what has waited too long.
  void send_away_late();

  // Drops all that waits, and takes nothing more. Then waits for what the library has; false
  // where that takes longer.
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
  std::mutex mutex_;  // of the turns
  std::condition_variable all_ended_;
  Turns turns_;
  std::atomic<size_t> waiting_ = 0;    // turns_.waiting(), for a look without the lock
  std::atomic<size_t> in_window_ = 0;  // cost of what the library has
  std::atomic<bool> stopping_ = false;
};

}  // namespace lanecrypt::service::daemon
