// The end of a job of any kind: its outcome, and who is told.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "job/status.h"

namespace lanecrypt::runtime {

// The part of a request that its caller waits on. The caller shares it, and may release
// it at any time.
class Ending {
 public:
  using Callback = std::function<void(const Status &, const lc_result &)>;

  // The thread that ends the request calls on_end, once.
  explicit Ending(Callback on_end);
  virtual ~Ending() = default;

  // Until the request has ended, only who has it at the time uses this. Set when a part has
  // failed for good. Parts under way are still waited for.
  Status failure;
  lc_result result = {};

  // Called when the work is in the caller's stream (device memory with a stream), or why it is
  // not.
  void set_enqueued(const Status &status);

  // Any thread.
  Status wait_enqueued();
  Status wait();
  bool ended(Status *status);
  // Whether the end calls a function of the caller's.
  bool calls_back() const { return bool(on_end_); }

 protected:
  // Ends the request, with `failure` if that is set.
  void tell();

 private:
  Callback on_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool enqueued_ = false, ended_ = false, told_ = false;
  Status status_, enqueued_status_;
};

using EndingPointer = std::shared_ptr<Ending>;

}  // namespace lanecrypt::runtime
