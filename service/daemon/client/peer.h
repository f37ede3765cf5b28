// Who is at the other end of a socket, and whether he may use the service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "service/daemon/system/descriptor.h"

namespace lanecrypt::service::daemon {

// As the kernel knew the process when it connected.
struct Peer {
  uid_t user = uid_t(-1);
  gid_t group = gid_t(-1);
  std::vector<gid_t> groups;  // its further groups
  // Becomes readable when the process has ended. Not there where the kernel cannot tell.
  Descriptor process;
  // It has ended already, or the kernel does not say which process it is though it could. Whoever
  // has its socket now may be anybody.
  bool has_ended = false;

  // The system calls that name the process. Each returns a descriptor, or -1 and sets errno.
  struct Calls {
    std::function<int(int socket)> process_of_peer;  // SO_PEERPIDFD, since Linux 6.5
    std::function<int(pid_t process)> open_process;  // pidfd_open(), since Linux 5.3
  };
  static Calls kernel();

  // The user alone, which takes less time.
  static std::optional<uid_t> user_of(int socket);

  // nullopt where the kernel does not tell.
  static std::optional<Peer> of(int socket, const Calls &calls = kernel());
};

// Who may connect, beside root and the user as whom the service runs.
struct Admitted {
  std::optional<gid_t> group;  // its members

  bool is_owner(const Peer &peer) const;  // root or the service's own user
  bool allows(const Peer &peer) const;
};

}  // namespace lanecrypt::service::daemon
