// Whose turn it is: a user has a line of clients, and a client a line of what it waits for. One
// thing of one client of one user is taken, and then of the next user. If time is charged, the user
// who was charged least comes first. If there is a limit to how many are under way, a user has no
// more than half of those that other users leave.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace lanecrypt::service::daemon {

using Clock = std::chrono::steady_clock;

// Something that waits for its turn. It is in one line at most, and must stay meanwhile.
struct Waiting {
  Waiting *next = nullptr;
  Clock::time_point since;  // when it came to the service
};

// Things in a circle, of which one is next. It owns none.
template <class T>
struct Circle {
  T *next = nullptr;

  // As the last one of the present round.
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

// One thread at a time. Each step costs the same, however much waits; with charges or a limit,
// take() looks at each user that waits.
class Turns {
 public:
  struct Client;
  struct User {
    Circle<Client> clients;  // those that wait for something
    User *before = nullptr, *after = nullptr;
    size_t waiting = 0, under_way = 0;
    // The time that its things took, as far as they are charged, from where it came in.
    Clock::duration charged{};
  };
  // Must be closed before it goes. Its user must stay longer.
  struct Client {
    explicit Client(User &its_user) : user(its_user) {}
    User &user;
    Waiting *first = nullptr, *last = nullptr;
    Client *before = nullptr, *after = nullptr;
    bool is_closed = false;
  };

  // most_under_way: how many things may be taken whose end() has not come; 0: any number, and
  // end() is not called.
  explicit Turns(size_t most_under_way = 0) : most_under_way_(most_under_way) {}

  // False where the client is closed, or `most` things of its user wait already.
  bool add(Client &client, Waiting &one, size_t most);
  // Adds what a thing of the client's user has taken. That user then waits until the others have
  // been charged as much. A user who comes, or comes again, starts kHeadStart before the user whose
  // turn it was last, so that many users whose things are slow do not come first.
  static constexpr std::chrono::milliseconds kHeadStart{100};
  void charge(Client &client, Clock::duration took) {
    client.user.charged += took;
    has_charges_ = true;
  }
  // A thing of the client's has ended.
  void end(Client &client) {
    --client.user.under_way;
    --under_way_;
  }
  // What take() would take; nullptr where nothing waits, or all that does waits for an end.
  Waiting *first() const;
  Waiting *take();
  // Takes all that the client waits for, as a chain by Waiting::next. It gets nothing more.
  Waiting *close(Client &client);
  // Takes all that came before then, as a chain.
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
  Clock::duration now_{};  // the most that a user whose turn it was had been charged
  const size_t most_under_way_;
  size_t waiting_ = 0, under_way_ = 0;
};

}  // namespace lanecrypt::service::daemon
