// What one user of the service has in a process and in its children: a connection of each
// process's own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "service/client/connection.h"

namespace lanecrypt::client {

class Client {
 public:
  explicit Client(Place place) : place_(std::move(place)) {}
  // Ends the session. Nobody uses its connections any more.
  ~Client();
  Client(const Client &) = delete;

  // This process's. The first call of a child of fork makes its own, and closes the child's
  // copies of its parent's sockets. It takes no lock that the parent could have held.
  Connection &here();

 private:
  struct Generation {
    explicit Generation(const Place &place, Generation *parent)
        : connection(place), before(parent) {}
    Connection connection;
    Generation *const before;
  };

  const Place place_;
  std::atomic<Generation *> now_{nullptr};
};

}  // namespace lanecrypt::client
