// What all clients of one user have together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "service/daemon/limits.h"
#include "service/daemon/rate.h"
#include "service/daemon/work/turns.h"

namespace lanecrypt::service::daemon {

struct User {
  explicit User(uid_t its_number) : number(its_number) {}
  const uid_t number;
  std::atomic<size_t> sessions = 0, channels = 0, keys = 0;  // places taken of its limits
  std::atomic<uint64_t> operations = 0;                      // that were done
  Rate reports{kReportsEach, kReportsAtOnce};                // the main thread's
  // Its place in each kind of turns, under the lock of those.
  Turns::User operation_turns, key_turns, search_turns;
};

// The users that have clients. One thread.
class Users {
 public:
  std::shared_ptr<User> find(uid_t number);
  std::vector<std::shared_ptr<const User>> all() const;

 private:
  std::map<uid_t, std::weak_ptr<User>> users_;
};

}  // namespace lanecrypt::service::daemon
