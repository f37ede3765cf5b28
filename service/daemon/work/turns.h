// Whose turn it is: a user has a line of clients, and a client a line of what it waits for. One
// thing of one client of one user is taken, and then of the next user.
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

// One thread at a time. Each step costs the same, however much waits.
class Turns {
 public:
  struct Client;
  struct User {
    Circle<Client> clients;  // those that wait for something
    User *before = nullptr, *after = nullptr;
    size_t waiting = 0;
  };
  // Must be closed before it goes. Its user must stay longer.
  struct Client {
    explicit Client(User &its_user) : user(its_user) {}
    User &user;
    Waiting *first = nullptr, *last = nullptr;
    Client *before = nullptr, *after = nullptr;
    bool is_closed = false;
  };

  // False where the client is closed, or `most` things of its user wait already.
  bool add(Client &client, Waiting &one, size_t most);
  // What take() would take; nullptr where nothing waits.
  Waiting *first() const;
  Waiting *take();
  // Takes all that the client waits for, as a chain by Waiting::next. It gets nothing more.
  Waiting *close(Client &client);
  // Takes all that came before then, as a chain.
  Waiting *take_older(Clock::time_point than);
  size_t waiting() const { return waiting_; }

 private:
  Waiting *take_first(Client &client);
  void leave_if_empty(Client &client);

  Circle<User> users_;
  size_t waiting_ = 0;
};

}  // namespace lanecrypt::service::daemon
