// Identifies the process at the other end of a socket, and decides whether it may use the service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "service/daemon/system/descriptor.h"

namespace lanecrypt::service::daemon {

// The credentials of the process at the time when it connected.
struct Peer {
  uid_t user = uid_t(-1);
  gid_t group = gid_t(-1);
  std::vector<gid_t> groups;  // its supplementary groups
  // A pidfd, which becomes readable when the process ends. Absent if the kernel has no such call.
  Descriptor process;
  // The process has ended, or the kernel did not identify it although it knows the call. Any
  // process may hold its end of the socket now.
  bool has_ended = false;

  // The system calls that identify the process. Each returns a descriptor, or -1 and sets errno.
  struct Calls {
    std::function<int(int socket)> process_of_peer;  // SO_PEERPIDFD, since Linux 6.5
    std::function<int(pid_t process)> open_process;  // pidfd_open(), since Linux 5.3
  };
  static Calls kernel();

  // Returns the user alone, which takes less time than of().
  static std::optional<uid_t> user_of(int socket);

  // Returns the peer of a socket, or nullopt if the kernel does not report its credentials.
  static std::optional<Peer> of(int socket, const Calls &calls = kernel());
};

// The users that may connect, besides root and the user of the service.
struct Admitted {
  std::optional<gid_t> group;  // members of this group may connect

  bool is_owner(const Peer &peer) const;  // root or the user of the service
  bool allows(const Peer &peer) const;
};

}  // namespace lanecrypt::service::daemon
