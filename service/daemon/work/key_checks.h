// The check of new keys, on threads of its own: it takes some milliseconds a key, and seconds of
// those of SLH-DSA, whose roots a device makes. The user whose checks took least time comes first.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "service/daemon/client/key.h"
#include "service/daemon/work/operations.h"

namespace lanecrypt::service::daemon {

// Any thread, with no lock held.
class KeyChecks {
 public:
  // line: the line that a session has here.
  KeyChecks(Operations &operations, Counters &counters, Turns::Client Session::*line)
      : operations_(operations), counters_(counters), line_(line) {}
  ~KeyChecks() { stop(); }
  void start(unsigned threads);
  // Whoever waits for a check is told kBusy.
  void stop();

  // Checks a new key in its turn. Operations that wait for it then get their turn.
  void add(const std::shared_ptr<Key> &key);
  // Drops what a session that has ended waits for.
  void drop(Session &session);
  // Sends away keys that have waited too long, and the operations that wait for them.
  void send_away_late();

 private:
  void run();
  void end(Key &key, bool is_good, Outcome otherwise);
  void refuse(Waiting *chain);

  Operations &operations_;
  Counters &counters_;
  Turns::Client Session::*const line_;
  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  Turns turns_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::service::daemon
