// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/peer.h"

#include <errno.h>
#include <poll.h>
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

std::optional<ucred> credentials_of(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  const int done = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes);
  return done == 0 ? std::optional(credentials) : std::nullopt;
}

std::vector<gid_t> groups_of(int socket) {
  // With a buffer that is too small, the kernel returns the length that it needs.
  socklen_t bytes = 0;
  std::vector<gid_t> groups;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &bytes) == 0 || errno != ERANGE)
    return groups;
  groups.resize(bytes / sizeof(gid_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) groups.clear();
  return groups;
}

// Returns whether the process has ended, even if it was not reaped yet.
bool has_ended(int process) {
  pollfd event{process, POLLIN, 0};
  return poll(&event, 1, 0) != 0;
}

// Opens the peer's process. Only a call that the kernel does not know leaves the process unknown.
// Every other error may mean that the process has ended: for a peer that was reaped, SO_PEERPIDFD
// gives EINVAL from Linux 6.5 on, ESRCH in some releases, and a descriptor from 6.16 on.
void find_process(int socket, pid_t number, const Peer::Calls &calls, Peer &peer) {
  int process = calls.process_of_peer(socket);
  if (process < 0 && errno == ENOPROTOOPT) {
    // The kernel reports 0 for a process of another PID namespace.
    if (number <= 0) return;
    process = calls.open_process(number);
    // A seccomp filter that does not know the call may answer EPERM.
    if (process < 0 && (errno == ENOSYS || errno == EPERM)) return;
  }
  peer.has_ended = process < 0 || has_ended(process);
  peer.process = Descriptor(process);
}

}  // namespace

Peer::Calls Peer::kernel() {
  return {.process_of_peer =
              [](int socket) {
                int process = -1;
                socklen_t bytes = sizeof process;
                const int done = getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &bytes);
                return done == 0 ? process : -1;
              },
          .open_process = [](pid_t number) { return int(syscall(SYS_pidfd_open, number, 0)); }};
}

std::optional<uid_t> Peer::user_of(int socket) {
  const std::optional<ucred> credentials = credentials_of(socket);
  return credentials ? std::optional(credentials->uid) : std::nullopt;
}

std::optional<Peer> Peer::of(int socket, const Calls &calls) {
  const std::optional<ucred> credentials = credentials_of(socket);
  if (!credentials) return std::nullopt;
  Peer peer;
  peer.user = credentials->uid;
  peer.group = credentials->gid;
  peer.groups = groups_of(socket);
  find_process(socket, credentials->pid, calls, peer);
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
