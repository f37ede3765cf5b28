// Counters of what a device or the CPU has done, shared by all of its threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanecrypt::runtime {

struct Counters {
  std::atomic<uint64_t> jobs = 0, bytes = 0, launches = 0, failures = 0, operations = 0;
};

}  // namespace lanecrypt::runtime
