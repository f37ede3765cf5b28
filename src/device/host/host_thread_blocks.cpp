// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_thread_blocks.h"

#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "device/host/host_threads.h"
#include "job/round_up.h"

namespace lanecrypt::device {
namespace {

// Returns the calling thread's shared memory, which it keeps from one thread block to the next:
// allocating it takes longer than many launches. It is no longer than requested, except for
// alignment, so that sanitizers detect overruns.
void *shared_memory(uint32_t bytes) {
  thread_local std::unique_ptr<void, decltype(&free)> memory(nullptr, &free);
  thread_local uint32_t size = 0;
  if (size != bytes) {
    memory.reset();
    memory.reset(aligned_alloc(64, round_up(bytes, 64)));
    size = bytes;
  }
  return memory.get();
}

// Runs thread blocks first, first + step, ... one after the other, each with all its threads.
void run_thread_blocks(const HostKernelEntry &kernel, std::span<const uint64_t> given,
                       const HostGrid &grid, uint32_t first, uint32_t step) {
  std::vector<uint64_t> arguments(given.begin(), given.end());
  if (grid.shared_bytes != 0)
    arguments.push_back(reinterpret_cast<uint64_t>(shared_memory(grid.shared_bytes)));
  for (uint32_t thread_block = first; thread_block < grid.thread_blocks; thread_block += step)
    run_threads(grid.threads, thread_block, grid.thread_blocks, [&] { kernel.run(arguments); });
}

}  // namespace

HostThreadBlocks::~HostThreadBlocks() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    begun_.notify_all();
  }
  for (std::thread &thread : threads_) thread.join();
}

void HostThreadBlocks::run(const HostKernelEntry &kernel, std::span<const uint64_t> arguments,
                           const HostGrid &grid, uint32_t threads) {
  const uint32_t parts = std::min(threads, grid.thread_blocks);
  share(parts, [&](uint32_t part) { run_thread_blocks(kernel, arguments, grid, part, parts); });
}

// Calls `part` once for each number below `parts`. Helper threads take what they can; the calling
// thread does not wait for a helper that has not started.
void HostThreadBlocks::share(uint32_t parts, const Part &part) {
  if (parts == 1) return part(0);
  start_threads(parts - 1);
  std::unique_lock lock(mutex_);
  part_ = &part;
  next_ = 0;
  parts_ = parts;
  begun_.notify_all();
  take(lock);
  over_.wait(lock, [&] { return under_way_ == 0; });
}

// Starts up to `count` helper threads. If the system refuses one, the calling thread does the work.
void HostThreadBlocks::start_threads(uint32_t count) {
  try {
    while (threads_.size() < count) threads_.emplace_back([this] { help(); });
  } catch (const std::system_error &) {
  }
}

void HostThreadBlocks::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return stopping_ || next_ < parts_; });
    if (stopping_) return;
    take(lock);
    if (under_way_ == 0) over_.notify_one();
  }
}

void HostThreadBlocks::take(std::unique_lock<std::mutex> &lock) {
  while (next_ < parts_) {
    const uint32_t number = next_++;
    ++under_way_;
    lock.unlock();
    (*part_)(number);
    lock.lock();
    --under_way_;
  }
}

}  // namespace lanecrypt::device
