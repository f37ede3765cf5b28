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

// The time until which a thread waits.
using Deadline = std::chrono::steady_clock::time_point;
constexpr Deadline kAtOnce{}, kWhenever = Deadline::max();

// `Completion` is the part of a request that its caller waits on. The caller shares ownership, and
// may release its reference at any time.
class Completion {
 public:
  using Callback = std::function<void(const Status &, const lc_result &)>;

  // The thread that completes the request calls `callback` once. It may be empty.
  explicit Completion(Callback callback);
  virtual ~Completion() = default;

  // If the caller enqueued the work on its own stream, no thread of ours waits for it, and this is
  // set before the caller gets the request. A waiter, and a caller that polls (kAtOnce), calls it
  // first to make progress; it must hold no lock. It completes the request if the device has
  // finished by `deadline`. If there is a callback, it only wakes the device's thread, which
  // completes the request.
  std::function<void(Deadline deadline)> poll_until_done;

  // The error of the request, set when a part has failed for good. Parts in flight are still waited
  // for. Until the request is complete, only its current owner uses `failure` and `result`.
  Status failure;
  lc_result result = {};

  // Reports that the work is in the caller's stream (device memory with a stream), or why it is
  // not.
  void set_enqueued(const Status &status);

  // wait_enqueued() waits until the work is in the caller's stream or the request is complete.
  // wait() waits until the request is complete and all callbacks have returned. Thread-safe, as the
  // following functions are.
  Status wait_enqueued();
  Status wait();
  // Waits until `deadline`. Returns false if the request is not complete by then, or a callback
  // still runs.
  bool wait_until(Deadline deadline, Status *status);
  bool ended(Status *status);
  // Adds a callback, which is called once: by the thread that completes the request or, if all
  // other callbacks have returned, by the calling thread before this returns.
  void add_callback(Callback callback);
  bool has_callback() const { return has_callback_; }
  // Returns whether the calling thread runs a callback of a request. If it does, other threads may
  // have to wait for resources that it takes meanwhile.
  static bool in_callback();
  // For a thread that completes the request where no callback may be called: while it holds this
  // lock, no callback can be added. The lock is not owned if there is a callback already.
  std::unique_lock<std::mutex> lock_callbacks();

 protected:
  // Completes the request, with `failure` if that is set, and calls the callbacks.
  void complete();

 private:
  std::mutex callbacks_mutex_;  // locked before mutex_
  std::atomic<bool> has_callback_ = false;
  std::mutex mutex_;
  std::vector<Callback> callbacks_;
  std::condition_variable changed_;
  bool enqueued_ = false, ended_ = false, callbacks_done_ = false;
  Status status_, enqueued_status_;
};

using CompletionPointer = std::shared_ptr<Completion>;

}  // namespace lanecrypt::runtime
