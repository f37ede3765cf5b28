// Ends sessions on a separate thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace lanecrypt::service::daemon {

class Session;

// A session may have thousands of channels and keys. To release them takes longer than the threads
// that serve other clients may be blocked. Thread-safe.
class Releases {
 public:
  ~Releases() { stop(); }
  void start();
  // Ends the sessions that were added, and then the thread.
  void stop();

  // Queues a session to be ended. If that fails, ends it on this thread.
  void add(std::shared_ptr<Session> session);

 private:
  void run();

  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Session>> sessions_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace lanecrypt::service::daemon
