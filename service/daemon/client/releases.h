// Ends sessions on a thread of its own.
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

// A session may have thousands of channels and keys. To let go of them takes longer than the
// threads that serve others may be busy. Any thread.
class Releases {
 public:
  ~Releases() { stop(); }
  void start();
  // Ends what was added, and then the thread.
  void stop();

  // Has the session ended soon.
  void add(std::shared_ptr<Session> session);

 private:
  void run();

  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Session>> sessions_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace lanecrypt::service::daemon
