// A session with the service: its control socket, its channels, and the status page.
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
#include "service/client/service_address.h"
#include "service/wire/messages.h"
#include "service/wire/status_page.h"

namespace lanecrypt::client {

// The time after which an operation without an answer ends the session.
inline constexpr std::chrono::seconds kSilence{5};

// Why a session ended.
enum class Fault {
  kService,  // the service closed a socket, was silent or broke the protocol
  kProgram,  // the program has closed descriptors of the client
  kNobody,   // the client no longer needs the session
};

// A socket that carries one request at a time.
struct Channel {
  OwnDescriptor socket;
  // The time when the request under way was sent, in ns of Clock; 0: none is under way. Kept for
  // ASYNC jobs, marked by `is_of_job`, whose answers no thread waits for in recv().
  std::atomic<int64_t> began{0};
  std::atomic<bool> is_of_job{false};
};

// Returns a number that no other session or key of this process or of its parents has. Never 0.
uint64_t next_number();

// Thread-safe in the process that made it. A child of fork() may only destroy it or call
// close_copies(). Users share ownership; the last one closes what is still open.
class Session {
 public:
  // Says kHello and waits for kWelcome until `until`. Returns nullptr on failure and sets `*why`.
  static std::shared_ptr<Session> begin(OwnDescriptor control, Clock::time_point until,
                                        std::string *why);
  ~Session();
  Session(const Session &) = delete;

  // Unique among the sessions of this process and of its parents. 0 means no session.
  uint64_t number() const { return number_; }
  bool is_of_this_process() const { return born_in_ == process::forks(); }
  const service::StatusPage &page() const { return *page_; }
  uint32_t most_keys() const { return most_keys_; }
  // The keys that the service has confirmed and that it was not told to forget.
  std::atomic<uint32_t> keys{0};
  // Requests under way.
  std::atomic<uint32_t> under_way{0};

  // Returns a channel for the caller alone, which must call give_back() or drop(). Returns nullptr
  // if the service gives no more channels or the session has ended. May block while it requests
  // more channels.
  Channel *take();
  // Returns a channel without a request under way to the free ones.
  void give_back(Channel *channel);
  // Closes a channel whose request is abandoned.
  void drop(Channel *channel);
  // Returns whether more than half of the channels are in use. Then a caller should not keep a
  // channel that it does not need now.
  bool is_scarce();

  // Ends the session unless it has ended. Every thread that waits on a channel wakes and finds it
  // closed.
  void end(Fault fault);
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  // The reason of the end. Valid after has_ended().
  Fault fault() const { return fault_.load(std::memory_order_relaxed); }
  // Called in a child of fork() on its parent's session: closes the child's copies of the sockets.
  void close_copies();

  // Both send a packet on the control socket. If the socket has no room, the packet is dropped.
  void forget_key(uint64_t key);
  void look_again();

  // Returns the timer's descriptor for ASYNC jobs, whose epoll descriptors include it. It becomes
  // readable once a job may have waited for more than kSilence. -1: there is none.
  int timer();
  // Notes that the request of a job is under way on `channel`.
  void begin_of_job(Channel &channel);
  // Called by the job of `channel` when it woke without an answer. Returns true if its request, or
  // that of another job, has waited for more than kSilence.
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

  // Held while a thread requests channels.
  std::mutex opening_;
  Clock::time_point refused_until_;

  std::mutex mutex_;
  // Every channel that was ever made. Entries never move, so that a child of fork() can read them
  // without the lock.
  const std::unique_ptr<std::atomic<Channel *>[]> all_;
  std::atomic<uint32_t> all_count_{0};
  std::vector<Channel *> free_;    // open and unused
  std::vector<Channel *> closed_;  // closed, for reuse with other sockets
  uint32_t open_ = 0;
  OwnDescriptor timer_;
  bool timer_runs_ = false;
};

}  // namespace lanecrypt::client
