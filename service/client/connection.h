// A process's connection to the service, made when an operation first may gain by it and made
// again after a failure, but not at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "process/forks.h"
#include "service/client/choice.h"
#include "service/client/place.h"
#include "service/client/session.h"

namespace lanecrypt::client {

// Any thread of the process that made it.
class Connection {
 public:
  // `place` outlives it.
  explicit Connection(const Place &place);
  Connection(const Connection &) = delete;

  bool is_of_this_process() const { return born_in_ == process::forks(); }
  // The session, if there is one that has not ended. No system call.
  std::shared_ptr<Session> session();
  // Whether connect() would try now. No system call.
  bool may_connect();
  // The session, or a new one if the last failure is long enough ago. Only one thread tries at
  // a time. The others wait for it if `waits` says so, and otherwise get nullptr.
  std::shared_ptr<Session> connect(bool waits);
  // After an operation that the service did.
  void note_answer() {
    if (failures_.load(std::memory_order_relaxed) != 0)
      failures_.store(0, std::memory_order_relaxed);
  }

  // True once for each session that the service has ended.
  bool take_loss() {
    return has_untold_loss_.load(std::memory_order_relaxed) && has_untold_loss_.exchange(false);
  }
  // The path of the socket that was tried last, and why there is no session.
  std::string path();
  std::string why();

  Choice &choice() { return choice_; }

  // Nobody needs it any more.
  void end();
  // In a child of fork, where this is its parent's: closes the child's copies.
  void close_copies();

 private:
  std::shared_ptr<Session> current();
  void note_failure(Clock::time_point now);

  const Place &place_;
  const uint64_t born_in_;
  Choice choice_;
  // Held while a thread connects.
  std::mutex connecting_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
  // The same for a child of fork, which must not take the lock.
  std::atomic<Session *> for_child_{nullptr};
  std::string path_, why_;
  // The last session is why there is none. Noted without memory, of which there may be none.
  bool is_lost_ = false;
  Clock::time_point next_try_;
  std::atomic<uint32_t> failures_{0};
  std::atomic<bool> has_untold_loss_{false};
};

}  // namespace lanecrypt::client
