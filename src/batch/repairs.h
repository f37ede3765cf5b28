// Operations that a device did wrong, to be done again by the CPU: on threads of their own, so that
// no other caller waits for that, and in turns, so that no owner waits for all of another's.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "batch/batch_request.h"

namespace lanecrypt::runtime {

// Any thread. The threads start with the first repair.
class Repairs {
 public:
  // Does one, and completes it.
  using Repair = std::function<void(const BatchItem &item)>;

  explicit Repairs(Repair repair) : repair_(std::move(repair)) {}
  ~Repairs() { stop(); }
  // Queues one behind those of the same owner. Owners take turns.
  void add(const BatchItem &item);
  // Does what waits, and ends the threads. What comes later is done on its own thread.
  void stop();

 private:
  void run();
  bool queue(const BatchItem &item);

  const Repair repair_;
  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  std::map<uint64_t, std::deque<BatchItem>> waiting_;  // by owner; none of them empty
  std::list<uint64_t> turns_;                          // the owners in waiting_
  size_t idle_ = 0;                                    // threads that wait for work
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::runtime
