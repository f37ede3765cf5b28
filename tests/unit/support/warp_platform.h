// What kernels/platform.h gives a card's kernels of block ciphers, for tests that compile these for
// themselves: teams of 32 lanes, and a key slot. A group of the emulator is one team.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/host_lane.h"
#include "kernels/platform.h"

namespace lanecrypt::test {

// Whether `mine` holds in any lane of the group, all of which ask. Groups run one after another.
inline bool any_lane(bool mine) {
  static bool answers[32];
  answers[lane_id()] = mine;
  group_barrier();
  const bool any = std::find(answers, answers + group_lanes(), true) != answers + group_lanes();
  group_barrier();
  return any;
}

}  // namespace lanecrypt::test

#undef TEAM_LANES
#undef TEAM_BARRIER
#undef LANES_ANY
#define TEAM_LANES 32u
#define TEAM_BARRIER() group_barrier()
#define LANES_ANY(x) lanecrypt::test::any_lane(x)
#define HAS_KEY_SLOT
#define KEY_SLOT(name, words) alignas(16) u32 name[words];
#define LC_BLOCK_FORM 4
