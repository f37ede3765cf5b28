// A pool of threads that share work which would take one thread too long.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lanecrypt::runtime {

// `Workers` is the pool. Thread-safe. With one thread it is a queue: work is done in the order in
// which it was submitted.
class Workers {
 public:
  // The threads start with the first work. Each calls `on_start` first.
  explicit Workers(unsigned most_threads, std::function<void()> on_start = nullptr);
  // Completes all submitted work, then ends the threads.
  ~Workers();

  unsigned most_threads() const { return most_threads_; }
  // Runs part(0) to part(count - 1) concurrently, and then after(), on these threads, without
  // waiting. If no thread can be started, the calling thread runs them before this returns. `after`
  // may be empty.
  void give(size_t count, std::function<void(size_t)> part, std::function<void()> after);
  void give(std::function<void()> work) { give(0, nullptr, std::move(work)); }
  // Runs part(0) to part(count - 1) on the calling thread and on the workers that are idle. Returns
  // when all are done. No part may throw.
  void share(size_t count, const std::function<void(size_t)> &part);

 private:
  struct Work;

  bool start_thread();
  void serve();

  const unsigned most_threads_;
  const std::function<void()> on_start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Work>> queue_;  // work with parts that have not begun
  unsigned idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::runtime
