// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_threads.h"

#include <pthread.h>

#include <thread>
#include <vector>

#include "kernels/host_thread.h"

namespace lanecrypt::device {
namespace {

// A barrier that sleeps at once, because there are more threads than cores. std::barrier would spin
// first, on a core that another thread needs.
class Barrier {
 public:
  explicit Barrier(uint32_t threads) { pthread_barrier_init(&barrier_, nullptr, threads); }
  ~Barrier() { pthread_barrier_destroy(&barrier_); }
  Barrier(const Barrier &) = delete;
  Barrier &operator=(const Barrier &) = delete;
  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace

void run_threads(uint32_t threads, uint32_t thread_block, uint32_t thread_blocks,
                 const std::function<void()> &work) {
  if (threads == 1) {
    host_thread = {.thread_block = thread_block, .thread_blocks = thread_blocks};
    return work();
  }
  Barrier barrier(threads);
  const auto run_thread = [&](uint32_t thread) {
    host_thread = {.thread = thread,
                   .threads = threads,
                   .thread_block = thread_block,
                   .thread_blocks = thread_blocks,
                   .barrier = [](void *b) { static_cast<Barrier *>(b)->wait(); },
                   .barrier_argument = &barrier};
    work();
  };
  std::vector<std::thread> others;
  for (uint32_t thread = 1; thread < threads; ++thread) others.emplace_back(run_thread, thread);
  run_thread(0);
  for (std::thread &other : others) other.join();
  host_thread = {};  // resets this thread's state, since the barrier is destroyed
}

}  // namespace lanecrypt::device
