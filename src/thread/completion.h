// The completion of a job of any kind: its outcome, and the callbacks that get it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "job/status.h"

namespace lanecrypt::runtime {

// How long somebody waits.
using Deadline = std::chrono::steady_clock::time_point;
constexpr Deadline kAtOnce{}, kWhenever = Deadline::max();

// The part of a request that its caller waits on. The caller shares it, and may release
// it at any time.
class Completion {
 public:
  using Callback = std::function<void(const Status &, const lc_result &)>;

  // The thread that ends the request calls callback, once. It may be empty.
  explicit Completion(Callback callback);
  virtual ~Completion() = default;

  // Set before the caller gets the request, if the caller enqueued the work on its own stream: then
  // no thread of ours waits for it. A waiter, and a caller that asks for the end (kAtOnce), calls
  // this first to make progress; it must hold no lock. It completes the request if the device has
  // done it by `deadline`. If there is a callback, it only wakes the device's thread, which does
  // that.
  std::function<void(Deadline deadline)> poll_until_done;

  // Until the request has ended, only its current owner uses this. Set when a part has
  // failed for good. Parts under way are still waited for.
  Status failure;
  lc_result result = {};

  // Called when the work is in the caller's stream (device memory with a stream), or why it is
  // not.
  void set_enqueued(const Status &status);

  // Any thread.
  Status wait_enqueued();
  Status wait();
  // False if it has not ended by then, or a callback still runs.
  bool wait_until(Deadline deadline, Status *status);
  bool ended(Status *status);
  // Adds a callback, which is called once: by the thread that completes the request or, if all
  // others have returned, by the calling thread before this returns.
  void add_callback(Callback callback);
  bool has_callback() const { return has_callback_; }
  // Whether the calling thread is in a callback of a request: others may have to wait for what it
  // has meanwhile.
  static bool in_callback();
  // For a thread that completes the request where no callback may be called: while it has this
  // lock, none can be added. The lock is not owned if there is one already.
  std::unique_lock<std::mutex> lock_callbacks();

 protected:
  // Ends the request, with `failure` if that is set, and calls the callbacks.
  void complete();

 private:
  std::mutex callbacks_mutex_;  // taken before the other
  std::atomic<bool> has_callback_ = false;
  std::mutex mutex_;
  std::vector<Callback> callbacks_;
  std::condition_variable changed_;
  bool enqueued_ = false, ended_ = false, callbacks_done_ = false;
  Status status_, enqueued_status_;
};

using CompletionPointer = std::shared_ptr<Completion>;

}  // namespace lanecrypt::runtime
