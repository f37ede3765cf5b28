// The CPU in the place of a device: finishes, by OpenSSL, what no device can.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>

#include "schedule/executor.h"

namespace lanecrypt::schedule {

// Any thread. Starts its thread with the first request.
class CpuWorker {
 public:
  ~CpuWorker() { stop(); }
  // Finishes what waits, and ends the thread; what comes later is refused. hurry()
  // has it leave undone what is not begun.
  void stop();
  void hurry() { hurries_ = true; }
  Counters &counters() { return counters_; }
  const Counters &counters() const { return counters_; }
  // Requests in host memory only. Ends each one.
  void submit(RequestPointer request);

 private:
  void run();
  void finish(Request &request);
  Status finish_aead(Request &request, const Piece &piece);
  void count(Request &request, uint64_t bytes);

  Counters counters_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<RequestPointer> queue_;
  bool stopping_ = false;
  std::atomic<bool> hurries_ = false;
  std::thread thread_;
};

}  // namespace lanecrypt::schedule
