// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/turns.h"

namespace lanecrypt::service::daemon {

bool Turns::add(Client &client, Waiting &one, size_t most) {
  User &user = client.user;
  if (client.is_closed || user.waiting >= most) return false;
  one.next = nullptr;
  if (client.first == nullptr) {
    client.first = client.last = &one;
    if (user.clients.next == nullptr) users_.add(user);
    user.clients.add(client);
  } else {
    client.last = client.last->next = &one;
  }
  ++user.waiting;
  ++waiting_;
  return true;
}

Waiting *Turns::first() const {
  return users_.next == nullptr ? nullptr : users_.next->clients.next->first;
}

Waiting *Turns::take_first(Client &client) {
  Waiting *const one = client.first;
  client.first = one->next;
  one->next = nullptr;
  --client.user.waiting;
  --waiting_;
  return one;
}

void Turns::leave_if_empty(Client &client) {
  if (client.first != nullptr || client.after == nullptr) return;
  client.last = nullptr;
  client.user.clients.remove(client);
  if (client.user.clients.next == nullptr) users_.remove(client.user);
}

Waiting *Turns::take() {
  if (users_.next == nullptr) return nullptr;
  User &user = *users_.next;
  Client &client = *user.clients.next;
  users_.advance();
  user.clients.advance();
  Waiting *const one = take_first(client);
  leave_if_empty(client);
  return one;
}

Waiting *Turns::close(Client &client) {
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

Waiting *Turns::take_older(Clock::time_point than) {
  Waiting *chain = nullptr;
  // Those that become empty leave their circles. So the last one is known by who is next now.
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
