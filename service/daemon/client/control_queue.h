// Chooses the client whose control packet the main thread handles next.
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

// The clients whose control packets wait, by users. Users take turns, and so do the clients of a
// user: a user with a thousand clients delays another user by one packet. A user whose packets take
// more of the main thread's time than limits.h allows waits, and no other user does. Not
// thread-safe.
class ControlQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Next {
    uid_t user;
    uint64_t client;
  };

  // Adds a client, which must not be in the queue.
  void add(uid_t user, uint64_t client, Time now);
  // Removes and returns the client whose turn it is. Returns nullopt if none waits, or if all users
  // that wait have reached their rates.
  std::optional<Next> next(Time now);
  // Charges the user for what the client from next() has cost.
  void charge(uid_t user, size_t units, Time now);
  // Returns the time from which next() returns a client. nullopt: none waits.
  std::optional<Time> ready_at() const;

 private:
  struct Line {
    std::deque<uint64_t> clients;
    Rate rate{kControlEach, kControlAtOnce};
  };
  std::map<uid_t, Line> lines_;
  std::deque<uid_t> round_robin_;  // the users with clients that wait
};

}  // namespace lanecrypt::service::daemon
