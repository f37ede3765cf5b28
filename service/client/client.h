// A user of the service in a process and in its children. Each process has its own connection.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "service/client/connection.h"

namespace lanecrypt::client {

class Client {
 public:
  explicit Client(ServiceAddress address) : address_(std::move(address)) {}
  // Ends the session. No thread may use its connections any more.
  ~Client();
  Client(const Client &) = delete;

  // Returns the connection of this process. The first call in a child of fork() makes a new
  // connection and closes the child's copies of its parent's sockets. It takes no lock that the
  // parent could have held at the fork.
  Connection &here();

 private:
  struct Generation {
    explicit Generation(const ServiceAddress &address, Generation *parent)
        : connection(address), before(parent) {}
    Connection connection;
    Generation *const before;
  };

  const ServiceAddress address_;
  std::atomic<Generation *> now_{nullptr};
};

}  // namespace lanecrypt::client
