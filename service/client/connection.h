// A process's connection to the service. It is made when an operation first may gain by it. After a
// failure it is made again, after a pause.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "process/forks.h"
#include "service/client/choice.h"
#include "service/client/service_address.h"
#include "service/client/session.h"

namespace lanecrypt::client {

// Thread-safe in the process that made it.
class Connection {
 public:
  // `address` must outlive the connection.
  explicit Connection(const ServiceAddress &address);
  Connection(const Connection &) = delete;

  bool is_of_this_process() const { return born_in_ == process::forks(); }
  // Returns the session, or nullptr if there is none or it has ended. Makes no system call.
  std::shared_ptr<Session> session();
  // Returns whether connect() would try now. Makes no system call.
  bool may_connect();
  // Returns the session, or makes one unless the pause after the last failure is not over. One
  // thread at a time tries. With `waits` the others block until it is done; without, they get
  // nullptr.
  std::shared_ptr<Session> connect(bool waits);
  // Resets the pause. Called after an operation that the service answered.
  void note_answer() {
    if (failures_.load(std::memory_order_relaxed) != 0)
      failures_.store(0, std::memory_order_relaxed);
  }

  // Returns true once for each session that the service has ended.
  bool take_loss() {
    return has_untold_loss_.load(std::memory_order_relaxed) && has_untold_loss_.exchange(false);
  }
  // The path of the socket that was tried last, and the reason why there is no session.
  std::string path();
  std::string why();

  Choice &choice() { return choice_; }

  // Ends the session without counting a failure.
  void end();
  // Called in a child of fork() on its parent's connection: closes the child's copies of the
  // sockets.
  void close_copies();

 private:
  std::shared_ptr<Session> current();
  void note_failure(Clock::time_point now);

  const ServiceAddress &address_;
  const uint64_t born_in_;
  Choice choice_;
  // Held while a thread connects.
  std::mutex connecting_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
  // The same session for a child of fork(), which must not take `mutex_`.
  std::atomic<Session *> for_child_{nullptr};
  std::string path_, why_;
  // The last session was lost, which is why there is none. A flag instead of a text, since there
  // may be no memory.
  bool is_lost_ = false;
  Clock::time_point next_try_;
  std::atomic<uint32_t> failures_{0};
  std::atomic<bool> has_untold_loss_{false};
};

}  // namespace lanecrypt::client
