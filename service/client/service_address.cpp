// SPDX-License-Identifier: Apache-2.0
#include "service/client/service_address.h"

#include <errno.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "process/folder_trust.h"

namespace lanecrypt::client {
namespace {

// The users whose sockets are trusted.
using Owners = std::vector<uid_t>;

// Returns the user ID for a user name or a decimal user ID.
std::optional<uid_t> find_user(const std::string &user) {
  uid_t number = 0;
  const char *const end = user.data() + user.size();
  if (const auto read = std::from_chars(user.data(), end, number); read.ptr == end)
    return read.ec == std::errc() && number != uid_t(-1) ? std::optional(number) : std::nullopt;
  std::vector<char> buffer(1024);
  passwd entry{}, *found = nullptr;
  while (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) == ERANGE)
    buffer.resize(2 * buffer.size());
  return found != nullptr ? std::optional(found->pw_uid) : std::nullopt;
}

// Checks the owner and the folders of a socket. Returns an empty string and sets `*owner` if they
// are trusted, otherwise the reason.
std::string fault_of(const std::string &path, const Owners &owners, uid_t *owner) {
  const std::string folder = path.substr(0, std::max<size_t>(path.rfind('/'), 1));
  if (std::string fault = process::fault_of_folder(folder, owners); !fault.empty()) return fault;
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0) return std::strerror(errno);
  if (!S_ISSOCK(file.st_mode)) return "it is no socket";
  if (std::find(owners.begin(), owners.end(), file.st_uid) == owners.end())
    return "it belongs to another user (see service_owner)";
  *owner = file.st_uid;
  return "";
}

void set_limit(int socket, int option, Clock::duration limit) {
  const auto us =
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(limit).count(), 1000);
  const timeval time = {time_t(us / 1000000), suseconds_t(us % 1000000)};
  (void)setsockopt(socket, SOL_SOCKET, option, &time, sizeof time);
}

// Connects to the socket and checks the peer's credentials. If that fails, sets `*why`.
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
  // Limits how long connect() blocks if the service's backlog is full.
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

ServiceAddress ServiceAddress::usual(std::string owner) {
  ServiceAddress address{{"/run/lanecrypt/socket"}, std::move(owner)};
  const char *const of_user = secure_getenv("XDG_RUNTIME_DIR");
  if (of_user != nullptr && of_user[0] == '/')
    address.paths.push_back(std::string(of_user) + "/lanecrypt/socket");
  return address;
}

Reached reach(const ServiceAddress &address, Clock::time_point end) {
  Reached reached;
  Owners owners = {0, geteuid()};
  if (!address.owner.empty()) {
    const std::optional<uid_t> user = find_user(address.owner);
    if (!user) {
      reached.path = address.paths.front();
      reached.why = "service_owner: there is no user '" + address.owner + "'";
      return reached;
    }
    owners.push_back(*user);
  }
  for (const std::string &path : address.paths) {
    reached.path = path;
    uid_t owner = 0;
    reached.why = fault_of(path, owners, &owner);
    if (reached.why.empty()) reached.socket = connect_to(path, owner, end, &reached.why);
    if (reached.socket.is_there()) break;
    reached.why = path + ": " + reached.why;
  }
  return reached;
}

}  // namespace lanecrypt::client
