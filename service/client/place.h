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
  // The program's settings name the socket. If not, these are the places where everybody
  // looks, and only a socket of root or of the process's own user counts.
  bool is_named = false;

  // The places where everybody looks. Reads the environment.
  static Place usual();
  static Place named(std::string path) { return {{std::move(path)}, true}; }
};

struct Reached {
  OwnDescriptor socket;
  // The path of the socket, or the last one that was tried.
  std::string path;
  // Why there is no socket.
  std::string why;
};

// Connects to the first socket of `place` whose owner is right and behind which the right user
// is. Who is right:
// - The socket belongs to root or to the process's own user, and its folder too, and nobody
//   else may write to that folder. If the settings name the socket, it may be anybody's, since
//   whoever wrote the settings vouches for that; but only its owner may write to its folder.
// - The peer is root (as with systemd's socket activation, where systemd listens) or the
//   socket's owner.
// May wait until `end`.
Reached reach(const Place &place, Clock::time_point end);

}  // namespace lanecrypt::client
