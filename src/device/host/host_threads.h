// The threads of a thread block on the emulator, each on its own CPU thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace lanecrypt::device {

// Calls `work` once for each thread of a thread block, with host_thread set for it, and returns
// when all have ended. Thread 0 runs on the calling thread. Every barrier that one thread reaches
// must be reached by all.
void run_threads(uint32_t threads, uint32_t thread_block, uint32_t thread_blocks,
                 const std::function<void()> &work);

}  // namespace lanecrypt::device
