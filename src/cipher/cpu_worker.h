// The CPU in the place of a device: does, by OpenSSL, what no device can, and what is
// sooner done by several cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>

#include "cipher/executor.h"
#include "thread/workers.h"

namespace lanecrypt::schedule {

// Less is one thread's: the others would hardly have woken.
constexpr uint64_t kLeastForCores = 2 << 20;

// Any thread. Starts its thread with the first request; what is long, and can be cut or
// is of several messages, it does with others together, but not authenticated modes.
class CpuWorker {
 public:
  // At most `cores` threads at a request: its own, and those of `workers` that are free.
  CpuWorker(Workers &workers, unsigned cores) : workers_(workers), cores_(cores) {}
  ~CpuWorker() { stop(); }
  // Finishes what waits, and ends the thread; what comes later is refused. hurry()
  // has it leave undone what is not begun.
  void stop();
  void hurry() { hurries_ = true; }
  Counters &counters() { return counters_; }
  const Counters &counters() const { return counters_; }
  unsigned cores() const { return cores_; }
  bool is_idle() const { return present_ == 0; }
  // What other threads than its own did.
  uint64_t bytes_of_others() const { return bytes_of_others_; }
  // Requests in host memory only. Ends each one.
  void submit(RequestPointer request);

 private:
  void run();
  void finish(Request &request);
  // One after the other, on this thread.
  void finish_aead(Request &request);
  Status finish_aead(Request &request, const Piece &piece);
  // What is left of it, with all threads that call this with the same mutex; at most so
  // much at a time, if it can be cut there. How much this thread did.
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
  std::atomic<bool> hurries_ = false;
  std::thread thread_;
};

}  // namespace lanecrypt::schedule
