// Waits for a descriptor with a time limit, and resumes after signals.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace lanecrypt::client {

// Returns whether `descriptor` became readable, or was closed by the peer, before `end`.
inline bool wait_for(int descriptor, std::chrono::steady_clock::time_point end) {
  using Ms = std::chrono::milliseconds;
  for (;;) {
    const auto left = std::chrono::ceil<Ms>(end - std::chrono::steady_clock::now()).count();
    pollfd one = {descriptor, POLLIN, 0};
    const int ready = poll(&one, 1, int(std::clamp<int64_t>(left, 0, 60'000)));
    if (ready > 0) return (one.revents & POLLNVAL) == 0;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace lanecrypt::client
