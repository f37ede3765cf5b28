// Checks new keys on separate threads. A check takes some milliseconds; for SLH-DSA it takes
// seconds, since a device computes the root. The user whose checks have taken the least time comes
// first.
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

// Thread-safe. The caller must hold no lock.
class KeyChecks {
 public:
  // `line`: the session's line in this queue.
  KeyChecks(Operations &operations, Counters &counters, FairQueue::Client Session::*line)
      : operations_(operations), counters_(counters), line_(line) {}
  ~KeyChecks() { stop(); }
  void start(unsigned threads);
  // Stops the threads. Operations that wait for a check end with kBusy.
  void stop();

  // Queues the check of a new key. Afterwards the operations that wait for it are queued, or
  // refused.
  void add(const std::shared_ptr<Key> &key);
  // Drops the checks of a session that has ended.
  void drop(Session &session);
  // Refuses keys that have waited longer than kMostWait, and the operations that wait for them.
  void send_away_late();

 private:
  void run();
  void end(Key &key, bool is_good, Outcome otherwise);
  void refuse(Waiting *chain);

  Operations &operations_;
  Counters &counters_;
  FairQueue::Client Session::*const line_;
  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  FairQueue queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::service::daemon
