// Threads of the command. If the system cannot create one, that is a Failure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <utility>
#include <vector>

#include "cli/failure.h"
#include "process/new_thread.h"

namespace lanecrypt::cli {

// Starts a thread that runs `work`. Throws Failure if the system cannot create it.
template <typename Work>
std::thread start_thread(Work &&work) {
  try {
    return process::new_thread(std::forward<Work>(work));
  } catch (const process::NoThread &error) {
    throw Failure(ExitCode::kFailed, error.what());
  }
}

// A set of threads that the destructor joins.
class Threads {
 public:
  Threads() = default;
  ~Threads() { join(); }
  Threads(const Threads &) = delete;
  Threads &operator=(const Threads &) = delete;

  template <typename Work>
  void start(Work &&work) {
    threads_.reserve(threads_.size() + 1);  // push_back() must not throw once the thread runs
    threads_.push_back(start_thread(std::forward<Work>(work)));
  }
  void join() {
    for (std::thread &thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::cli
