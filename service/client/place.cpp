// SPDX-License-Identifier: Apache-2.0
#include "service/client/place.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace lanecrypt::client {
namespace {

bool is_root_or_this_user(uid_t user) { return user == 0 || user == geteuid(); }

// An empty text if the socket's file and folder are right. *owner is the file's.
std::string fault_of(const std::string &path, bool is_named, uid_t *owner) {
  struct stat file, folder;
  if (lstat(path.c_str(), &file) != 0) return std::strerror(errno);
  if (!S_ISSOCK(file.st_mode)) return "it is no socket";
  const std::string above = path.substr(0, std::max<size_t>(path.rfind('/'), 1));
  if (stat(above.c_str(), &folder) != 0) return std::strerror(errno);
  if ((folder.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others than its owner may write to its folder";
  if (!is_named && !is_root_or_this_user(folder.st_uid))
    return "its folder belongs neither to root nor to this user";
  if (!is_named && !is_root_or_this_user(file.st_uid))
    return "it belongs neither to root nor to this user";
  *owner = file.st_uid;
  return "";
}

void set_limit(int socket, int option, Clock::duration limit) {
  const auto us =
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(limit).count(), 1000);
  const timeval time = {time_t(us / 1000000), suseconds_t(us % 1000000)};
  (void)setsockopt(socket, SOL_SOCKET, option, &time, sizeof time);
}

// Connects, and looks who is there. `why` says why not.
OwnDescriptor connect_to(const std::string &path, uid_t owner, Clock::time_point end,
                         std::string *why) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    *why = "its path is too long";
    return {};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  OwnDescriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0),
                     OwnDescriptor::Number::kHigh);
  // If the service is behind with accept(), connect() waits for no longer than this.
  if (made.is_there()) set_limit(made.get(), SO_SNDTIMEO, end - Clock::now());
  int done = -1;
  while (made.is_there() && Clock::now() < end) {
    done = connect(made.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address);
    if (done == 0 || errno != EINTR) break;
  }
  if (done != 0) {
    *why = std::strerror(errno);
    return {};
  }
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(made.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
      (peer.uid != 0 && peer.uid != owner)) {
    *why = "its owner is not who listens there";
    return {};
  }
  return made;
}

}  // namespace

Place Place::usual() {
  Place place{{"/run/lanecrypt/socket"}, false};
  const char *const of_user = secure_getenv("XDG_RUNTIME_DIR");
  if (of_user != nullptr && of_user[0] == '/')
    place.paths.push_back(std::string(of_user) + "/lanecrypt/socket");
  return place;
}

Reached reach(const Place &place, Clock::time_point end) {
  Reached reached;
  for (const std::string &path : place.paths) {
    reached.path = path;
    uid_t owner = 0;
    reached.why = fault_of(path, place.is_named, &owner);
    if (reached.why.empty()) reached.socket = connect_to(path, owner, end, &reached.why);
    if (reached.socket.is_there()) break;
    reached.why = path + ": " + reached.why;
  }
  return reached;
}

}  // namespace lanecrypt::client
