// The CPU in the place of a device. By OpenSSL it does what no device can, and what
// several cores do sooner.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>

#include "cipher/executor.h"
#include "thread/workers.h"

namespace lanecrypt::runtime {

// One thread does less than this by itself: the others would hardly have woken.
constexpr uint64_t kLeastForCores = 2 << 20;

// Any thread. It starts its thread with the first request. Other threads help with a long
// request that can be cut or has several messages, except in authenticated modes.
class CpuWorker {
 public:
  // At most `cores` threads work at a request: its own, and free ones of `workers`.
  CpuWorker(Workers &workers, unsigned cores) : workers_(workers), cores_(cores) {}
  ~CpuWorker() { stop(); }
  // Finishes what waits, ends the thread, and refuses what comes later. After cancel_pending() it
  // leaves undone what is not begun.
  void stop();
  void cancel_pending() { cancels_pending_ = true; }
  Counters &counters() { return counters_; }
  const Counters &counters() const { return counters_; }
  unsigned cores() const { return cores_; }
  bool is_idle() const { return present_ == 0; }
  // Bytes that threads other than its own did.
  uint64_t bytes_of_others() const { return bytes_of_others_; }
  // Takes requests in host memory only, and ends each one.
  void submit(RequestPointer request);

 private:
  void run();
  void finish(Request &request);
  // Does it on as many threads as it is worth.
  void share(Request &request);
  // Runs them one after the other, on this thread.
  void finish_aead(Request &request);
  Status finish_aead(Request &request, const Piece &piece);
  // Does what is left of the request, together with all threads that call this with the
  // same mutex; at most so much at a time, if it can be cut there. Returns how much this
  // thread did.
  uint64_t take_part(Request &request, std::mutex &mutex, uint64_t most_bytes);
  void count(Request &request, uint64_t bytes);

  Workers &workers_;
  const unsigned cores_;
  Counters counters_;
  std::atomic<uint64_t> bytes_of_others_ = 0;
  std::atomic<size_t> present_ = 0;  // requests
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<RequestPointer> queue_;
  bool stopping_ = false;
  std::atomic<bool> cancels_pending_ = false;
  std::thread thread_;
};

}  // namespace lanecrypt::runtime
