// One connection to the service: its control socket, its channels, and the page that the
// service shares.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "process/forks.h"
#include "service/client/descriptor.h"
#include "service/client/place.h"
#include "service/wire/messages.h"
#include "service/wire/status_page.h"

namespace lanecrypt::client {

// An operation that takes longer makes us give the service up.
inline constexpr std::chrono::seconds kSilence{5};

// Why a session ended.
enum class Fault {
  kService,  // it closed a socket, was silent or broke the protocol
  kProgram,  // the program has closed our descriptors
  kNobody,   // nobody needs the session any more
};

// A socket on which one request at a time is under way.
struct Channel {
  OwnDescriptor socket;
  // When the request under way was sent, in ns of Clock; 0: none is. The second is for jobs of
  // ASYNC, whose answers nobody waits for in recv().
  std::atomic<int64_t> began{0};
  std::atomic<bool> is_of_job{false};
};

// next_number: a number that no session and no key of this process and of its parents has. Never 0.
uint64_t next_number();

// Any thread of the process that made it. A child of fork may only destroy it. Whoever uses a
// session shares it, and the last of them closes what is still open.
class Session {
 public:
  // nullptr, and *why says why.
  static std::shared_ptr<Session> begin(OwnDescriptor control, Clock::time_point until,
                                        std::string *why);
  ~Session();
  Session(const Session &) = delete;

  // No two sessions of a process have one number, nor has one of its parents. 0 is none's.
  uint64_t number() const { return number_; }
  bool is_of_this_process() const { return born_in_ == process::forks(); }
  const service::StatusPage &page() const { return *page_; }
  uint32_t most_keys() const { return most_keys_; }
  // How many keys the service has confirmed and we have not told it to forget.
  std::atomic<uint32_t> keys{0};
  // Requests under way.
  std::atomic<uint32_t> under_way{0};

  // A channel of its own for the caller, who gives it back or drops it. nullptr: the service
  // gives no more, or the session has ended. It may wait for the service for a while.
  Channel *take();
  // Nothing is under way on it.
  void give_back(Channel *channel);
  // Its request is abandoned.
  void drop(Channel *channel);
  // Whether channels are so few that nobody should keep one that it does not need now.
  bool is_scarce();

  // Ends it, if it has not ended. All that wait on a channel wake, and find it closed.
  void end(Fault fault);
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  // Whose fault that was. Only after has_ended().
  Fault fault() const { return fault_.load(std::memory_order_relaxed); }
  // In a child of fork, where this is its parent's: closes the child's copies.
  void close_copies();

  // Both send a packet on the control socket, if it has room.
  void forget_key(uint64_t key);
  void look_again();

  // For jobs of ASYNC, which wait by a descriptor that includes this timer's. It becomes
  // readable once a job may have waited for too long. -1: there is none.
  int timer();
  // Notes that a job's request is under way.
  void begin_of_job(Channel &channel);
  // Called by the job of `channel`, which woke and has no answer. True if it, or another job,
  // has waited for too long.
  bool is_silent(const Channel &channel);

 private:
  Session(OwnDescriptor control, const service::StatusPage *page, const service::Welcome &welcome);
  bool open_more();
  bool ask_for(uint32_t count);
  void add(OwnDescriptor socket);
  void wake_after(Clock::duration time);

  const uint64_t number_, born_in_;
  const service::StatusPage *const page_;
  const uint32_t most_keys_, most_channels_;
  OwnDescriptor control_;
  std::atomic<bool> has_ended_{false};
  std::atomic<Fault> fault_{Fault::kNobody};

  // Held while channels are asked for.
  std::mutex opening_;
  Clock::time_point refused_until_;

  std::mutex mutex_;
  // All that ever were, in places that never move: a child of fork reads them without the lock.
  const std::unique_ptr<std::atomic<Channel *>[]> all_;
  std::atomic<uint32_t> all_count_{0};
  std::vector<Channel *> free_;    // open, and nobody's
  std::vector<Channel *> closed_;  // for further sockets
  uint32_t open_ = 0;
  OwnDescriptor timer_;
  bool timer_runs_ = false;
};

}  // namespace lanecrypt::client
