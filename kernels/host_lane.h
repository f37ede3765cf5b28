// Where a lane of the emulator stands: what platform.h asks on a host compiler.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::device {

// Set on the lane's thread before each kernel runs there.
struct HostLane {
  uint32_t lane = 0, lanes = 1, group = 0, groups = 1;
  void (*barrier)(void *) = nullptr;  // nullptr: a group of one lane
  void *barrier_argument = nullptr;
};

inline thread_local HostLane host_lane;

}  // namespace lanecrypt::device
