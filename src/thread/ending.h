// How a job ends, whatever it is: its outcome, and who is told of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "job/status.h"

namespace lanecrypt::schedule {

// The part of a request that its caller waits on; shared with the caller, who
// may let go of it at any time.
class Ending {
 public:
  using Callback = std::function<void(const Status &)>;

  // on_end is called once, by the thread that ends the request.
  explicit Ending(Callback on_end);
  virtual ~Ending() = default;

  // The business of whoever has the request, until it has ended.
  // Set when a part failed for good; what is under way is still waited for.
  Status failure;
  lc_result result = {};

  // The work is in the caller's stream (device memory with a stream).
  void set_enqueued();

  // Any thread.
  void wait_enqueued();
  Status wait();
  bool ended(Status *status);

 protected:
  // Ends it, with `failure` or well.
  void tell();

 private:
  Callback on_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool enqueued_ = false, ended_ = false, told_ = false;
  Status status_;
};

using EndingPointer = std::shared_ptr<Ending>;

}  // namespace lanecrypt::schedule
