// A queue that is fair to users. A user has a circle of clients, and a client has a line of items.
// The queue gives one item of one client of one user, and then of the next user. If time is
// charged, the user that was charged least comes first. If the number of items under way is
// limited, a user has at most half of those that other users leave.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace lanecrypt::service::daemon {

using Clock = std::chrono::steady_clock;

// An item that waits in a queue. It is in at most one line, and must live until it is taken.
struct Waiting {
  Waiting *next = nullptr;
  Clock::time_point since;  // when it arrived at the service
};

// A circular list with a next element. It does not own its elements.
template <class T>
struct Circle {
  T *next = nullptr;

  // Adds an element as the last one of the current round.
  void add(T &one) {
    if (next == nullptr) {
      one.before = one.after = next = &one;
      return;
    }
    one.after = next;
    one.before = next->before;
    one.before->after = one.after->before = &one;
  }
  void remove(T &one) {
    if (one.after == &one) {
      next = nullptr;
    } else {
      if (next == &one) next = one.after;
      one.before->after = one.after;
      one.after->before = one.before;
    }
    one.before = one.after = nullptr;
  }
  void advance() { next = next->after; }
};

// Not thread-safe. Each step takes constant time, but with charges or a limit take() visits each
// user that waits.
class FairQueue {
 public:
  struct Client;
  struct User {
    Circle<Client> clients;  // the clients with items
    User *before = nullptr, *after = nullptr;
    size_t waiting = 0, under_way = 0;
    // The time that was charged for the user's items, counted from the value at which the user
    // started.
    Clock::duration charged{};
  };
  // Must be closed before it is destroyed. Its user must outlive it.
  struct Client {
    explicit Client(User &its_user) : user(its_user) {}
    User &user;
    Waiting *first = nullptr, *last = nullptr;
    Client *before = nullptr, *after = nullptr;
    bool is_closed = false;
  };

  // `most_under_way`: how many items may be taken before end() is called for one of them. With 0
  // there is no limit, and end() is not called.
  explicit FairQueue(size_t most_under_way = 0) : most_under_way_(most_under_way) {}

  // Adds an item to the client's line. Returns false if the client is closed, or if `most` items of
  // its user wait already.
  bool add(Client &client, Waiting &one, size_t most);
  // Charges the client's user for the time that an item took. The user then waits until the others
  // have been charged as much. A user that starts, or starts again, begins with at least the charge
  // of the user whose turn was last, less kHeadStart. The head start lets it go ahead of many users
  // with slow items.
  static constexpr std::chrono::milliseconds kHeadStart{100};
  void charge(Client &client, Clock::duration took) {
    client.user.charged += took;
    has_charges_ = true;
  }
  // Says that an item of the client has ended.
  void end(Client &client) {
    --client.user.under_way;
    --under_way_;
  }
  // Returns the item that take() would return, or nullptr if none waits or none may be taken before
  // another has ended.
  Waiting *first() const;
  Waiting *take();
  // Closes the client's line: returns all its items as a chain by Waiting::next. The line takes no
  // more items.
  Waiting *close(Client &client);
  // Takes all items that arrived before `than`, as a chain.
  Waiting *take_older(Clock::time_point than);
  size_t waiting() const { return waiting_; }

 private:
  bool has_room(const User &user) const {
    const size_t others = under_way_ - user.under_way;
    return most_under_way_ == 0 || user.under_way < (most_under_way_ - others) / 2;
  }
  User *next_user() const;
  Waiting *take_first(Client &client);
  void leave_if_empty(Client &client);

  Circle<User> users_;
  bool has_charges_ = false;
  Clock::duration now_{};  // the largest charge of a user whose turn it was
  const size_t most_under_way_;
  size_t waiting_ = 0, under_way_ = 0;
};

}  // namespace lanecrypt::service::daemon
