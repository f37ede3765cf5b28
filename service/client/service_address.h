// The paths of the service's socket, and the rule for which users may own it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "service/client/descriptor.h"

namespace lanecrypt::client {

using Clock = std::chrono::steady_clock;

struct ServiceAddress {
  // Absolute paths, in the order in which they are tried.
  std::vector<std::string> paths;
  // A user, by name or number, whose sockets are trusted besides those of root and of the process's
  // own user. Empty: none.
  std::string owner;

  // Returns the default paths. Reads the environment.
  static ServiceAddress usual(std::string owner = "");
  // Returns the path that the program's settings name.
  static ServiceAddress named(std::string path, std::string owner = "") {
    return {{std::move(path)}, std::move(owner)};
  }
};

struct Reached {
  OwnDescriptor socket;
  // The path of the socket, or the path that was tried last.
  std::string path;
  // Why there is no socket; empty if there is one.
  std::string why;
};

// Connects to the first socket of `address` that only these users can have created: root, the
// process's own user, and the owner that `address` names. The rule is the same for the default
// paths and for paths from settings:
// - The socket belongs to one of these users, and no other user can replace it
//   (process/folder_trust.h).
// - The peer is root (as with systemd's socket activation, where systemd listens) or the socket's
//   owner. The peer is checked after connect(), so replacing the socket after the first check
//   changes nothing.
//
// Blocks until `end` at most.
Reached reach(const ServiceAddress &address, Clock::time_point end);

}  // namespace lanecrypt::client
