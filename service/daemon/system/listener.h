// The socket that clients connect to: made here, or handed over by systemd.
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
  // Makes it at `path`, for its owner and, if a group is given, that group. There is no moment
  // in which others may connect. The socket of a service that has ended is replaced. Throws
  // Failure, also where another service listens there, or where others may write to the folder.
  // is_named: whether the group must be able to connect; otherwise that is tried.
  Listener(const std::string &path, std::optional<gid_t> group, bool is_named);
  // Takes one that listens already, and never removes it.
  explicit Listener(Descriptor ready) : socket_(std::move(ready)) {}
  // Removes it, if it still is ours.
  ~Listener();
  Listener(const Listener &) = delete;

  int get() const { return socket_.get(); }
  void close();

  // The socket that systemd gives to this process, if it does. Throws Failure where what it
  // gives is no listening socket of SOCK_SEQPACKET. Clears the variables.
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
