// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/system/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "process/folder_trust.h"
#include "service/daemon/failure.h"
#include "service/daemon/limits.h"

namespace lanecrypt::service::daemon {
namespace {

constexpr int kFirstOfSystemd = 3;

sockaddr_un address_of(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw Failure(path + ": a socket's path has 1 to 107 bytes");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Descriptor make_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.ok()) throw Failure("cannot create a socket", errno);
  return made;
}

// Checks every folder on the path of the socket. A user who can write to one of them could put
// another folder or socket in the place of ours, or have us change the group and the mode of
// another file. In the last folder, even if it is sticky, others could take the name of the lock.
void check_folder(const std::string &path) {
  const std::string folder = std::filesystem::absolute(path).parent_path();
  struct stat its {};
  if (stat(folder.c_str(), &its) != 0) throw Failure(folder, errno);
  if ((its.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw Failure(folder + ": other users than its owner may write there");
  const uid_t owners[] = {0, geteuid()};
  if (const std::string fault = process::fault_of_folder(folder, owners); !fault.empty())
    throw Failure(fault);
}

int number_of(const char *text) {
  int number = -1;
  if (text == nullptr) return -1;
  const std::string_view digits(text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
}

int option_of(int socket, int name) {
  int value = -1;
  socklen_t bytes = sizeof value;
  return getsockopt(socket, SOL_SOCKET, name, &value, &bytes) == 0 ? value : -1;
}

}  // namespace

Listener::Listener(const std::string &path, std::optional<gid_t> group, bool is_named)
    : path_(path), lock_path_(path + ".lock") {
  (void)address_of(path);
  check_folder(path);
  take_lock();
  try {
    remove_stale();
    make(group, is_named);
  } catch (...) {
    close();
    throw;
  }
}

// Binds and listens. If the group cannot be set, that is an error only with `is_named`.
void Listener::make(std::optional<gid_t> group, bool is_named) {
  const sockaddr_un address = address_of(path_);
  socket_ = make_socket();
  // Accessible to its owner alone until the group is set.
  const mode_t before = umask(0177);
  const int bound =
      bind(socket_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address);
  const int error = errno;
  (void)umask(before);
  if (bound != 0) throw Failure(path_, error);
  struct stat its {};
  if (lstat(path_.c_str(), &its) != 0) throw Failure(path_, errno);
  device_ = its.st_dev;
  file_ = its.st_ino;
  const bool is_for_group =
      group && lchown(path_.c_str(), uid_t(-1), *group) == 0 && chmod(path_.c_str(), 0660) == 0;
  if (is_named && !is_for_group) throw Failure(path_ + ": cannot set its group and mode", errno);
  if (listen(socket_.get(), kMostUnaccepted) != 0) throw Failure(path_, errno);
}

Listener::~Listener() { close(); }

void Listener::close() {
  socket_.close();
  struct stat its {};
  if (file_ != 0 && lstat(path_.c_str(), &its) == 0 && its.st_dev == device_ && its.st_ino == file_)
    (void)unlink(path_.c_str());
  file_ = 0;
  // Removes the lock file while the lock is held. Another process that gets the lock then checks
  // whether its file still exists.
  if (lock_.ok()) (void)unlink(lock_path_.c_str());
  lock_.close();
}

// Locks the lock file. Without it two services that start at once could each take the other's
// socket for a stale one.
void Listener::take_lock() {
  while (true) {
    Descriptor lock(open(lock_path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock.ok()) throw Failure(lock_path_, errno);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
      throw Failure(errno == EWOULDBLOCK ? path_ + ": another lanecryptd listens there"
                                         : lock_path_ + ": " + std::strerror(errno));
    struct stat ours {
    }, there{};
    if (fstat(lock.get(), &ours) == 0 && lstat(lock_path_.c_str(), &there) == 0 &&
        ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) {
      lock_ = std::move(lock);
      return;
    }
    // Its holder has just removed the file, so try again.
  }
}

// Removes the socket of a service that has ended. Throws Failure if the path is not a socket, or if
// something listens there.
void Listener::remove_stale() const {
  struct stat its {};
  if (lstat(path_.c_str(), &its) != 0) {
    if (errno == ENOENT) return;
    throw Failure(path_, errno);
  }
  if (!S_ISSOCK(its.st_mode)) throw Failure(path_ + " exists and is no socket");
  if (geteuid() != 0 && its.st_uid != geteuid()) throw Failure(path_ + " belongs to another user");
  const Descriptor probe = make_socket();
  const sockaddr_un address = address_of(path_);
  if (connect(probe.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0 ||
      errno != ECONNREFUSED)
    throw Failure(path_ + ": somebody listens there");
  if (unlink(path_.c_str()) != 0) throw Failure(path_, errno);
}

// ---- Socket activation ------------------------------------------------------

std::optional<Descriptor> Listener::from_systemd() {
  const int process = number_of(secure_getenv("LISTEN_PID"));
  const int count = number_of(secure_getenv("LISTEN_FDS"));
  // Clears the variables, so that child processes do not see them.
  for (const char *name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) (void)unsetenv(name);
  if (process != int(getpid()) || count == 0) return std::nullopt;
  if (count != 1) throw Failure("LISTEN_FDS: expected exactly one socket");
  Descriptor given(kFirstOfSystemd);
  struct stat its {};
  if (fstat(given.get(), &its) != 0 || !S_ISSOCK(its.st_mode) ||
      option_of(given.get(), SO_DOMAIN) != AF_UNIX ||
      option_of(given.get(), SO_TYPE) != SOCK_SEQPACKET ||
      option_of(given.get(), SO_ACCEPTCONN) != 1)
    throw Failure("LISTEN_FDS: descriptor 3 is not a listening Unix socket of type SOCK_SEQPACKET");
  const int flags = fcntl(given.get(), F_GETFL);
  if (flags < 0 || fcntl(given.get(), F_SETFL, flags | O_NONBLOCK) != 0 ||
      fcntl(given.get(), F_SETFD, FD_CLOEXEC) != 0)
    throw Failure("LISTEN_FDS: cannot set the flags of descriptor 3", errno);
  return given;
}

}  // namespace lanecrypt::service::daemon
