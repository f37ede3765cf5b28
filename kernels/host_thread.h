// The position of an emulated thread in its launch, which platform.h reads when a host compiler
// compiles the kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::device {

// Set on the operating system's thread that runs an emulated thread, before each kernel starts
// there.
struct HostThread {
  uint32_t thread = 0, threads = 1, thread_block = 0, thread_blocks = 1;
  void (*barrier)(void *) = nullptr;  // nullptr if the thread block has one thread
  void *barrier_argument = nullptr;
};

inline thread_local HostThread host_thread;

}  // namespace lanecrypt::device
