// Runs the thread blocks of a launch on the emulator, on the stream's thread and on helper threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "device/host/host_kernels.h"

namespace lanecrypt::device {

struct HostGrid {
  uint32_t thread_blocks = 1;
  uint32_t threads = 1;  // per thread block
  uint32_t shared_bytes = 0;
};

// The helper threads of one stream. Only the stream's thread runs launches.
class HostThreadBlocks {
 public:
  HostThreadBlocks() = default;
  ~HostThreadBlocks();
  HostThreadBlocks(const HostThreadBlocks &) = delete;

  // Returns when all thread blocks are done. At most `threads` of them run at once.
  void run(const HostKernelEntry &kernel, std::span<const uint64_t> arguments, const HostGrid &grid,
           uint32_t threads);

 private:
  using Part = std::function<void(uint32_t)>;

  void share(uint32_t parts, const Part &part);
  void start_threads(uint32_t count);
  void help();
  void take(std::unique_lock<std::mutex> &lock);

  std::mutex mutex_;
  std::condition_variable begun_, over_;
  const Part *part_ = nullptr;
  uint32_t next_ = 0, parts_ = 0, under_way_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::device
