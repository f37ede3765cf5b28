// The threads of a thread block on the emulator, each of which is a thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace lanecrypt::device {

// Calls `work` once for each thread, with host_thread set for it, and returns when all have ended.
// The first thread runs on the calling thread. All must meet each barrier that one of them meets.
void run_threads(uint32_t threads, uint32_t thread_block, uint32_t thread_blocks,
                 const std::function<void()> &work);

}  // namespace lanecrypt::device
