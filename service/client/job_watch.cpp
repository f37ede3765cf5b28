// SPDX-License-Identifier: Apache-2.0
#include "service/client/job_watch.h"

#include <sys/epoll.h>

#include "process/forks.h"

namespace lanecrypt::client {

JobWatch::JobWatch() : born_in_(process::forks()), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

JobWatch::~JobWatch() {
  // This comes first, since it ends all watches. A sandbox may allow no other call.
  epoll_.close();
  if (channel_ == nullptr || !session_->is_of_this_process()) return;
  settle();
  if (is_under_way_)
    session_->drop(channel_);
  else
    session_->give_back(channel_);
}

bool JobWatch::is_usable() const { return born_in_ == process::forks() && epoll_.is_ours(); }

bool JobWatch::watch(int descriptor) const {
  epoll_event event{};
  event.events = EPOLLIN;
  return descriptor >= 0 && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

// Removes a descriptor from the set. Closing it would not be enough: a child's copy would keep it
// watched.
void JobWatch::unwatch(int descriptor) const {
  epoll_event event{};
  (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, &event);
}

void JobWatch::settle() {
  if (is_under_way_) session_->under_way.fetch_sub(1, std::memory_order_relaxed);
}

void JobWatch::leave_session() {
  if (session_ == nullptr) return;
  drop();
  unwatch(session_->timer());
  session_.reset();
}

Channel *JobWatch::prepare(const std::shared_ptr<Session> &session) {
  if (session_ != session) leave_session();
  // An earlier job was abandoned, and its answer may still come.
  if (is_under_way_) drop();
  if (session_ == nullptr) {
    if (!watch(session->timer())) return nullptr;
    session_ = session;
  }
  if (channel_ == nullptr) {
    channel_ = session_->take();
    if (channel_ != nullptr && !watch(channel_->socket.get())) drop();
  }
  return channel_;
}

uint64_t JobWatch::begin() {
  is_under_way_ = true;
  session_->under_way.fetch_add(1, std::memory_order_relaxed);
  session_->begin_of_job(*channel_);
  return ++operation_;
}

void JobWatch::finish() {
  settle();
  is_under_way_ = false;
  channel_->began.store(0, std::memory_order_relaxed);
  if (!session_->is_scarce()) return;
  unwatch(channel_->socket.get());
  session_->give_back(channel_);
  channel_ = nullptr;
}

void JobWatch::drop() {
  if (channel_ == nullptr) return;
  settle();
  is_under_way_ = false;
  unwatch(channel_->socket.get());
  session_->drop(channel_);
  channel_ = nullptr;
}

}  // namespace lanecrypt::client
