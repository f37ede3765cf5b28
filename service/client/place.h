// Where the service's socket is, and who may be behind it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "service/client/descriptor.h"

namespace lanecrypt::client {

using Clock = std::chrono::steady_clock;

struct Place {
  // Absolute paths in the order in which they are tried.
  std::vector<std::string> paths;
  // A user by name or number whose sockets count beside those of root and of the process's own
  // user. "": none.
  std::string owner;

  // The places where everybody looks. Reads the environment.
  static Place usual(std::string owner = "");
  // The place that the program's settings name.
  static Place named(std::string path, std::string owner = "") {
    return {{std::move(path)}, std::move(owner)};
  }
};

struct Reached {
  OwnDescriptor socket;
  // The path of the socket, or the last one that was tried.
  std::string path;
  // Why there is no socket.
  std::string why;
};

// Connects to the first socket of `place` that only these users can have put there: root, the
// process's own user, and the owner that `place` names. The rule is the same for sockets that
// settings name and for the usual ones:
// - The socket belongs to one of these users, and nobody else can put another in its place
//   (process/folder_trust.h).
// - The peer is root (as with systemd's socket activation, where systemd listens) or the socket's
//   owner. This is looked up after connect(), so an exchange after the first look changes nothing.
// May wait until `end`.
Reached reach(const Place &place, Clock::time_point end);

}  // namespace lanecrypt::client
