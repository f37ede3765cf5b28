// Whose control packet the main thread handles next.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "service/daemon/limits.h"
#include "service/daemon/rate.h"

namespace lanecrypt::service::daemon {

// The clients that have something to say, by users. Users take turns, and so do the clients of a
// user. So a user of a thousand clients delays another by one packet. A user whose packets take
// more of the main thread than limits.h allows waits, and nobody else. One thread.
class ControlQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Next {
    uid_t user;
    uint64_t client;
  };

  // A client that is in the queue already must not be added again.
  void add(uid_t user, uint64_t client, Time now);
  // Takes the client whose turn it is. nullopt: nobody waits, or all wait for their rates.
  std::optional<Next> next(Time now);
  // What the client that came from next() has cost.
  void charge(uid_t user, size_t units, Time now);
  // From when on next() gives one. nullopt: nobody waits.
  std::optional<Time> ready_at() const;

 private:
  struct Line {
    std::deque<uint64_t> clients;
    Rate rate{kControlEach, kControlAtOnce};
  };
  std::map<uid_t, Line> lines_;
  std::deque<uid_t> turns_;  // the users whose lines are not empty
};

}  // namespace lanecrypt::service::daemon
