// Where a thread of the emulator stands: what platform.h asks on a host compiler.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::device {

// Set on the thread's thread before each kernel runs there.
struct HostThread {
  uint32_t thread = 0, threads = 1, thread_block = 0, thread_blocks = 1;
  void (*barrier)(void *) = nullptr;  // nullptr: a thread block of one thread
  void *barrier_argument = nullptr;
};

inline thread_local HostThread host_thread;

}  // namespace lanecrypt::device
