// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace lanecrypt::service::daemon {
namespace {

std::vector<gid_t> groups_of(int socket) {
  // The length that is too short comes back as the length that is needed.
  socklen_t bytes = 0;
  std::vector<gid_t> groups;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &bytes) == 0 || errno != ERANGE)
    return groups;
  groups.resize(bytes / sizeof(gid_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) groups.clear();
  return groups;
}

void find_process(int socket, pid_t number, Peer &peer) {
  int process = -1;
  socklen_t bytes = sizeof process;
  // Since Linux 6.5: of the very process that connected.
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &bytes) != 0) {
    peer.has_ended = errno == ESRCH;
    if (errno != ENOPROTOOPT || number <= 0) return;
    process = int(syscall(SYS_pidfd_open, number, 0));
    peer.has_ended = process < 0 && errno == ESRCH;
  }
  peer.process = Descriptor(process);
}

}  // namespace

std::optional<Peer> Peer::of(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) return std::nullopt;
  Peer peer;
  peer.user = credentials.uid;
  peer.group = credentials.gid;
  peer.groups = groups_of(socket);
  find_process(socket, credentials.pid, peer);
  return peer;
}

bool Admitted::is_owner(const Peer &peer) const { return peer.user == 0 || peer.user == geteuid(); }

bool Admitted::allows(const Peer &peer) const {
  if (is_owner(peer)) return true;
  if (!group) return false;
  return peer.group == *group ||
         std::find(peer.groups.begin(), peer.groups.end(), *group) != peer.groups.end();
}

}  // namespace lanecrypt::service::daemon
