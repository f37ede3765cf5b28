// The socket to which clients connect: made here, or passed by systemd.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "service/daemon/system/descriptor.h"

namespace lanecrypt::service::daemon {

class Listener {
 public:
  // Makes a socket at `path`, accessible to its owner and, if `group` is given, to that group. At
  // no moment may others connect. Replaces the socket of a service that has ended. `is_named`:
  // whether it is an error if the group cannot be set. Throws Failure, also if another service
  // listens there or if others may write to the folder.
  Listener(const std::string &path, std::optional<gid_t> group, bool is_named);
  // Takes ownership of a socket that listens already. Its file is never removed.
  explicit Listener(Descriptor ready) : socket_(std::move(ready)) {}
  // Removes the socket's file, unless another process has replaced it.
  ~Listener();
  Listener(const Listener &) = delete;

  int get() const { return socket_.get(); }
  void close();

  // Returns the socket that systemd passes to this process (sd_listen_fds(3)), if it does, and
  // clears the variables. Throws Failure if the descriptor is not a listening Unix socket of type
  // SOCK_SEQPACKET.
  static std::optional<Descriptor> from_systemd();

 private:
  void take_lock();
  void make(std::optional<gid_t> group, bool is_named);
  void remove_stale() const;

  std::string path_, lock_path_;
  Descriptor lock_, socket_;
  dev_t device_ = 0;
  ino_t file_ = 0;
};

}  // namespace lanecrypt::service::daemon
