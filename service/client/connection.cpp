// SPDX-License-Identifier: Apache-2.0
#include "service/client/connection.h"

#include <algorithm>

#include "cpu/core_count.h"

namespace lanecrypt::client {
namespace {

// The time limit from the first system call of a connection to the service's kWelcome.
constexpr std::chrono::milliseconds kConnecting{250};
constexpr std::chrono::milliseconds kFirstPause{250};
constexpr std::chrono::seconds kLongestPause{60};

}  // namespace

Connection::Connection(const ServiceAddress &address)
    : address_(address), born_in_(process::forks()), choice_(*this) {}

// Returns the session unless it has ended. If the service ended it, notes the loss. Needs `mutex_`.
std::shared_ptr<Session> Connection::current() {
  if (session_ == nullptr || !session_->has_ended()) return session_;
  const Fault fault = session_->fault();
  for_child_.store(nullptr, std::memory_order_release);
  session_.reset();
  if (fault == Fault::kService) {
    is_lost_ = true;
    note_failure(Clock::now());
    has_untold_loss_.store(true, std::memory_order_relaxed);
  }
  return nullptr;
}

std::shared_ptr<Session> Connection::session() {
  const std::lock_guard lock(mutex_);
  return current();
}

bool Connection::may_connect() {
  const std::lock_guard lock(mutex_);
  return current() == nullptr && Clock::now() >= next_try_;
}

// Counts a failure and sets the time of the next attempt. The pause doubles with each failure in a
// row, up to kLongestPause. Needs `mutex_`.
void Connection::note_failure(Clock::time_point now) {
  const uint32_t before = std::min(failures_.fetch_add(1, std::memory_order_relaxed), 16u);
  next_try_ = now + std::min<Clock::duration>(kFirstPause * (1u << before), kLongestPause);
}

std::shared_ptr<Session> Connection::connect(bool waits) {
  if (std::shared_ptr<Session> now = session(); now != nullptr) return now;
  std::unique_lock one_at_a_time(connecting_, std::defer_lock);
  if (waits)
    one_at_a_time.lock();
  else if (!one_at_a_time.try_lock())
    return nullptr;
  if (std::shared_ptr<Session> now = session(); now != nullptr || !may_connect()) return now;

  const Clock::time_point end = Clock::now() + kConnecting;
  Reached reached = reach(address_, end);
  std::shared_ptr<Session> made;
  if (reached.socket.is_there()) {
    made = Session::begin(std::move(reached.socket), end, &reached.why);
    if (made == nullptr) reached.why = reached.path + ": " + reached.why;
  }
  if (made != nullptr) choice_.begin(cpu::usable_cores(), made->page().cores);
  const std::lock_guard lock(mutex_);
  path_ = std::move(reached.path);
  why_ = std::move(reached.why);
  is_lost_ = false;
  session_ = made;
  for_child_.store(made.get(), std::memory_order_release);
  if (made == nullptr) note_failure(Clock::now());
  return made;
}

std::string Connection::path() {
  const std::lock_guard lock(mutex_);
  return path_;
}

std::string Connection::why() {
  const std::lock_guard lock(mutex_);
  return is_lost_ ? "the service does not answer" : why_;
}

void Connection::end() {
  if (const std::shared_ptr<Session> now = session(); now != nullptr) now->end(Fault::kNobody);
}

void Connection::close_copies() {
  if (Session *const parents = for_child_.load(std::memory_order_acquire); parents != nullptr)
    parents->close_copies();
}

}  // namespace lanecrypt::client
