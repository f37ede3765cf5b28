// Searches for new keys: each has a thread while it is under way, and its client hears that it
// still is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "service/daemon/client/channel.h"
#include "service/daemon/limits.h"
#include "service/daemon/report/counters.h"
#include "service/daemon/work/turns.h"

namespace lanecrypt::service::daemon {

// Any thread, with no lock held.
class Searches {
 public:
  explicit Searches(Counters &counters) : counters_(counters) {}
  ~Searches() { stop(); }
  void start(size_t threads);
  // Ends those under way, and waits for their threads.
  void stop();

  // From now on the library takes searches.
  void open(lc_context *context) { context_ = context; }

  // Does a request that has begun on a channel, in its turn.
  void add(Channel &channel);
  // Drops what a session that has ended waits for. What is under way ends soon.
  void drop(Session &session);

  // How often clients want to hear that their searches go on.
  static constexpr std::chrono::milliseconds kNewsEvery{250};
  bool has_any() const { return count_.load(std::memory_order_relaxed) != 0; }
  // Tells all clients that wait. Sends away those whose turn does not come.
  void tell_still_at_work();

 private:
  void run();
  bool is_device_sooner(lc_context *context, uint32_t bits);
  void search(Channel &channel);
  static int take_key(void *argument, uint64_t number, const lc_rsa_parts *key) noexcept;
  static int goes_on(void *argument, const lc_rsa_progress *progress) noexcept;
  void fail(Channel &channel, Outcome outcome);
  // True where the client reads too little.
  bool end(Channel &channel, Outcome outcome, std::span<const std::span<const uint8_t>> answer);
  void refuse(Waiting *chain);

  Counters &counters_;
  std::atomic<lc_context *> context_ = nullptr;
  std::once_flag warmed_up_;
  std::atomic<bool> stopping_ = false;
  std::atomic<size_t> count_ = 0;  // of requests
  std::mutex mutex_;               // of what is below
  std::condition_variable changed_;
  Turns turns_{kMostSearches};
  std::unordered_set<std::shared_ptr<Channel>> all_;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::service::daemon
