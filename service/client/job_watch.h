// What the program of an ASYNC job waits by: an epoll descriptor of the job's channel and of
// its session's timer. Programs such as `openssl speed` take no more than one descriptor.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "service/client/session.h"

namespace lanecrypt::client {

// Belongs to a wait context of OpenSSL's, which serves one job after another. One thread at a
// time.
class JobWatch {
 public:
  // A descriptor of -1: there is none to be had.
  JobWatch();
  // In a child of fork it only closes what the child has copies of.
  ~JobWatch();
  JobWatch(const JobWatch &) = delete;

  int descriptor() const { return epoll_.get(); }
  // False in a child of fork, which shares its parent's descriptor, or where the program has
  // closed that. Then another watch must take its place.
  bool is_usable() const;

  // Watches a channel of `session`, on which nothing is under way. nullptr: the session has
  // none, or has ended.
  Channel *prepare(const std::shared_ptr<Session> &session);
  Session &session() const { return *session_; }
  // The request on that channel has been sent. Returns a number that no other operation of this
  // watch has.
  uint64_t begin();
  // Whether the channel still has that operation, and is this process's. A program may have
  // given the job up, and begun another with the same wait context. A child may go on with a
  // job of its parent's.
  bool has(uint64_t operation) const {
    return born_in_ == process::forks() && channel_ != nullptr && operation_ == operation;
  }
  // The answer has come, or nothing was sent.
  void finish();
  // The channel is of no more use.
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
