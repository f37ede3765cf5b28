// Searches for new RSA keys. Each search has a thread while it is under way, and its client is told
// regularly that it still is.
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
#include "service/daemon/work/fair_queue.h"

namespace lanecrypt::service::daemon {

// Thread-safe. The caller must hold no lock.
class Searches {
 public:
  explicit Searches(Counters &counters) : counters_(counters) {}
  ~Searches() { stop(); }
  void start(size_t threads);
  // Stops the searches under way, and waits for their threads.
  void stop();

  // Lets searches start from now on.
  void open(lc_context *context) { context_ = context; }

  // Queues a request that has begun on a channel.
  void add(Channel &channel);
  // Drops the waiting requests of a session that has ended. Its searches under way stop soon.
  void drop(Session &session);

  // The interval of kStillAtWork.
  static constexpr std::chrono::milliseconds kNewsEvery{250};
  bool has_any() const { return count_.load(std::memory_order_relaxed) != 0; }
  // Sends kStillAtWork to all clients with a request. Refuses requests that have waited longer than
  // kMostWait.
  void tell_still_at_work();

 private:
  void run();
  bool is_device_sooner(lc_context *context, uint32_t bits);
  void search(Channel &channel);
  static int take_key(void *argument, uint64_t number, const lc_rsa_parts *key) noexcept;
  static int goes_on(void *argument, const lc_rsa_progress *progress) noexcept;
  void fail(Channel &channel, Outcome outcome);
  // Answers a request. Returns true if the answer had no room, since the client has not read
  // earlier ones.
  bool end(Channel &channel, Outcome outcome, std::span<const std::span<const uint8_t>> answer);
  void refuse(Waiting *chain);

  Counters &counters_;
  std::atomic<lc_context *> context_ = nullptr;
  std::once_flag warmed_up_;
  std::atomic<bool> stopping_ = false;
  std::atomic<size_t> count_ = 0;  // number of requests
  std::mutex mutex_;               // protects the members below
  std::condition_variable changed_;
  FairQueue queue_{kMostSearches};
  std::unordered_set<std::shared_ptr<Channel>> all_;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::service::daemon
