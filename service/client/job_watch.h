// The descriptor on which the program of an ASYNC job waits: an epoll descriptor of the job's
// channel and of its session's timer. Programs such as `openssl speed` take no more than one
// descriptor.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "service/client/session.h"

namespace lanecrypt::client {

// Belongs to an ASYNC_WAIT_CTX of OpenSSL, which serves one job after another. Not thread-safe.
class JobWatch {
 public:
  // descriptor() is -1 if epoll_create1() fails.
  JobWatch();
  // In a child of fork() it only closes the child's copies.
  ~JobWatch();
  JobWatch(const JobWatch &) = delete;

  int descriptor() const { return epoll_.get(); }
  // Returns false in a child of fork(), which shares its parent's epoll instance, and if the
  // program has closed the descriptor. Then the caller must make another JobWatch.
  bool is_usable() const;

  // Returns a channel of `session` without a request under way, and watches it. Returns nullptr if
  // the session has none or has ended.
  Channel *prepare(const std::shared_ptr<Session> &session);
  Session &session() const { return *session_; }
  // Notes that the request on that channel has been sent. Returns a number that is unique to this
  // operation in this JobWatch.
  uint64_t begin();
  // Returns whether the channel still carries that operation and belongs to this process. A program
  // may have abandoned the job and started another with the same wait context. A child of fork()
  // may resume a job of its parent.
  bool has(uint64_t operation) const {
    return born_in_ == process::forks() && channel_ != nullptr && operation_ == operation;
  }
  // Called when the answer has come, or if nothing was sent.
  void finish();
  // Closes the channel.
  void drop();

 private:
  bool watch(int descriptor) const;
  void unwatch(int descriptor) const;
  void leave_session();
  void settle();

  const uint64_t born_in_;
  OwnDescriptor epoll_;
  std::shared_ptr<Session> session_;
  Channel *channel_ = nullptr;
  bool is_under_way_ = false;
  uint64_t operation_ = 0;
};

}  // namespace lanecrypt::client
