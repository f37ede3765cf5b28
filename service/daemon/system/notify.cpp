// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/system/notify.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "service/daemon/system/descriptor.h"

namespace lanecrypt::service::daemon {

void notify_systemd(const char *state) {
  const char *const path = secure_getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  const size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  // A name in the abstract namespace.
  if (path[0] == '@') address.sun_path[0] = '\0';
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.ok()) return;
  (void)sendto(socket.get(), state, std::strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr *>(&address),
               socklen_t(offsetof(sockaddr_un, sun_path) + length));
}

}  // namespace lanecrypt::service::daemon
