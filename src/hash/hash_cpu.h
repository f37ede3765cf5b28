// Jobs of hashes on the CPU, by several cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>

#include "hash/hash_request.h"
#include "thread/counters.h"
#include "thread/workers.h"

namespace lanecrypt::runtime {

// Any thread.
class HashCpu {
 public:
  // Takes so many cores at most.
  HashCpu(Counters &counters, unsigned cores);
  ~HashCpu() { stop(); }
  // Ends what it has. hurry() has it leave undone what is not begun.
  void stop();
  void hurry() { hurries_ = true; }
  // Ends the request.
  void submit(const HashRequestPointer &request);
  // Its threads, for other work that one thread would take too long for.
  Workers &workers() { return *workers_; }

 private:
  Counters &counters_;
  std::atomic<bool> hurries_ = false;
  std::optional<Workers> workers_;
};

}  // namespace lanecrypt::runtime
