// The end of a job of any kind: its outcome, and who is told.
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
class Ending {
 public:
  using Callback = std::function<void(const Status &, const lc_result &)>;

  // The thread that ends the request calls on_end, once. It may be empty.
  explicit Ending(Callback on_end);
  virtual ~Ending() = default;

  // Set before its caller has it, where that put it into his stream himself: who waits for its end,
  // or asks for it (kAtOnce), calls this first, on his own thread and with no lock held. It ends
  // the request if the device has done it by then. Where someone is to be told, it only has the
  // device's thread see to that.
  std::function<void(Deadline deadline)> bring_about;

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
  // False where it has not ended by then, or someone is still being told.
  bool wait_until(Deadline deadline, Status *status);
  bool ended(Status *status);
  // Has one more told, once: by the thread that ends the request or, where all others have been
  // told, by this one before it returns.
  void tell_too(Callback callback);
  bool tells_someone() const { return tells_someone_; }
  // Whether the calling thread ends a request and is in a callback of it: others may have to wait
  // for what it has meanwhile.
  static bool tells_here();
  // For who ends the request where callbacks must not be called: while he has this lock, nobody is
  // to be told. He has none where somebody is.
  std::unique_lock<std::mutex> keep_untold();

 protected:
  // Ends the request, with `failure` if that is set.
  void tell();

 private:
  std::mutex untold_;  // taken before the other
  std::atomic<bool> tells_someone_ = false;
  std::mutex mutex_;
  std::vector<Callback> on_end_;
  std::condition_variable changed_;
  bool enqueued_ = false, ended_ = false, told_ = false;
  Status status_, enqueued_status_;
};

using EndingPointer = std::shared_ptr<Ending>;

}  // namespace lanecrypt::runtime
