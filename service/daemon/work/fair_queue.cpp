// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/fair_queue.h"

#include <algorithm>

namespace lanecrypt::service::daemon {

bool FairQueue::add(Client &client, Waiting &one, size_t most) {
  User &user = client.user;
  if (client.is_closed || user.waiting >= most) return false;
  one.next = nullptr;
  if (client.first == nullptr) {
    client.first = client.last = &one;
    if (user.clients.next == nullptr) {
      user.charged = std::max<Clock::duration>(user.charged, now_ - kHeadStart);
      users_.add(user);
    }
    user.clients.add(client);
  } else {
    client.last = client.last->next = &one;
  }
  ++user.waiting;
  ++waiting_;
  return true;
}

// Returns the user that was charged least of those that have room; of several, the next one in the
// circle.
FairQueue::User *FairQueue::next_user() const {
  if (users_.next == nullptr || (!has_charges_ && most_under_way_ == 0)) return users_.next;
  User *least = nullptr, *user = users_.next;
  do {
    if (has_room(*user) && (least == nullptr || user->charged < least->charged)) least = user;
    user = user->after;
  } while (user != users_.next);
  return least;
}

Waiting *FairQueue::first() const {
  const User *const user = next_user();
  return user == nullptr ? nullptr : user->clients.next->first;
}

Waiting *FairQueue::take_first(Client &client) {
  Waiting *const one = client.first;
  client.first = one->next;
  one->next = nullptr;
  --client.user.waiting;
  --waiting_;
  return one;
}

void FairQueue::leave_if_empty(Client &client) {
  if (client.first != nullptr || client.after == nullptr) return;
  client.last = nullptr;
  client.user.clients.remove(client);
  if (client.user.clients.next == nullptr) users_.remove(client.user);
}

Waiting *FairQueue::take() {
  User *const next = next_user();
  if (next == nullptr) return nullptr;
  User &user = *next;
  users_.next = next;
  if (most_under_way_ != 0) ++user.under_way, ++under_way_;
  Client &client = *user.clients.next;
  now_ = std::max(now_, user.charged);
  users_.advance();
  user.clients.advance();
  Waiting *const one = take_first(client);
  leave_if_empty(client);
  return one;
}

Waiting *FairQueue::close(Client &client) {
  client.is_closed = true;
  Waiting *const all = client.first;
  while (client.first != nullptr) {
    Waiting *const after = client.first->next;
    Waiting *const one = take_first(client);
    one->next = after;
  }
  leave_if_empty(client);
  return all;
}

Waiting *FairQueue::take_older(Clock::time_point than) {
  Waiting *chain = nullptr;
  // Clients and users that become empty leave their circles, so the loops detect the last element
  // before they change a circle.
  for (User *user = users_.next; user != nullptr;) {
    User *const next_user = user->after;
    const bool is_last_user = next_user == users_.next;
    for (Client *client = user->clients.next; client != nullptr;) {
      Client *const next_client = client->after;
      const bool is_last = next_client == user->clients.next;
      while (client->first != nullptr && client->first->since < than) {
        Waiting *const one = take_first(*client);
        one->next = chain;
        chain = one;
      }
      leave_if_empty(*client);
      client = is_last ? nullptr : next_client;
    }
    user = is_last_user ? nullptr : next_user;
  }
  return chain;
}

}  // namespace lanecrypt::service::daemon
