// What all clients of one user share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "service/daemon/limits.h"
#include "service/daemon/rate.h"
#include "service/daemon/work/fair_queue.h"

namespace lanecrypt::service::daemon {

struct User {
  explicit User(uid_t its_number) : number(its_number) {}
  const uid_t number;
  // How much of its limits the user has taken.
  std::atomic<size_t> sessions = 0, channels = 0, descriptors = 0, keys = 0, key_bytes = 0;
  std::atomic<uint64_t> operations = 0;  // number of operations done
  // The user's entry in each queue, protected by the lock of that queue.
  FairQueue::User operation_queue, key_queue, root_queue, search_queue;
};

// The users that have clients, or had some not long ago. Not thread-safe.
class Users {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Finds the user, which is remembered for kUserRemembered at least after its last client has
  // gone: a user that comes again is still charged for what it had.
  std::shared_ptr<User> find(uid_t number, Time now);
  // Returns the users that have clients.
  std::vector<std::shared_ptr<const User>> all() const;
  // Returns whether a user with a client may get a report now, and counts it. The count survives
  // the user's clients, so a user gains nothing by connecting again.
  bool takes_report(const User &user, Time now) { return users_.at(user.number).reports.take(now); }
  // Returns whether a user may connect once more, and counts it in the same way.
  bool takes_connection(uid_t number, Time now) { return users_[number].connections.take(now); }

 private:
  struct Known {
    std::shared_ptr<User> user;
    Time seen;
    bool has_clients() const { return user.use_count() > 1; }
    Rate reports{kReportsEach, kReportsAtOnce};
    Rate connections{kConnectionsEach, kConnectionsAtOnce};
  };
  void forget_old(Time now);

  std::map<uid_t, Known> users_;
  Time next_look_{};
};

}  // namespace lanecrypt::service::daemon
