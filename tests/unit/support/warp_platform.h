// Redefines the macros of kernels/platform.h as a GPU's block cipher kernels see them, for tests
// that compile these kernels: warps of 32 threads, and a key slot. A thread block of the emulator
// is one warp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/host_thread.h"
#include "kernels/platform.h"

namespace lanecrypt::test {

// Whether `mine` is true in any thread of the thread block. All its threads must call this. Thread
// blocks run one after another, so they can share `answers`.
inline bool any_thread(bool mine) {
  static bool answers[32];
  answers[thread_id()] = mine;
  thread_block_barrier();
  const bool any =
      std::find(answers, answers + thread_block_size(), true) != answers + thread_block_size();
  thread_block_barrier();
  return any;
}

}  // namespace lanecrypt::test

#undef WARP_THREADS
#undef WARP_BARRIER
#undef WARP_ANY
#define WARP_THREADS 32u
#define WARP_BARRIER() thread_block_barrier()
#define WARP_ANY(x) lanecrypt::test::any_thread(x)
#define HAS_KEY_SLOT
#define KEY_SLOT(name, words) alignas(16) u32 name[words];
#define LC_BLOCK_FORM 4
