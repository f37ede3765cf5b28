// SPDX-License-Identifier: Apache-2.0
#include "bench/load/on_threads.h"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace lanecrypt::bench {

void on_threads(unsigned count, const std::function<void(unsigned)> &work) {
  std::vector<std::thread> threads;
  std::exception_ptr failure;
  std::atomic<bool> has_failed{false};
  const auto run = [&](unsigned n) {
    try {
      work(n);
    } catch (...) {
      if (!has_failed.exchange(true)) failure = std::current_exception();
    }
  };
  for (unsigned n = 1; n < count; n++) threads.emplace_back(run, n);
  run(0);
  for (std::thread &thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lanecrypt::bench
