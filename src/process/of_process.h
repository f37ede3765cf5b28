// What a process has once, such as a book of what is open, and a child of fork has anew.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "process/forks.h"

namespace lanecrypt::process {

// A T for this process, made when it is first wanted, by any thread, and never destroyed: threads
// may outlive the process's static objects. A child leaves its parent's as it is, since a thread
// that it does not have may be changing it, with a lock that stays locked. Static, and made by the
// compiler: the initialization of a static T has a lock too.
template <typename T>
class OfProcess {
 public:
  T &get() {
    Made *known = made_.load();
    if (known != nullptr && known->born_in == forks()) return known->value;
    auto *const made = new Made{.parents = known};
    if (made_.compare_exchange_strong(known, made)) return made->value;
    delete made;  // another thread came first
    return known->value;
  }

 private:
  struct Made {
    const uint64_t born_in = forks();
    T value{};
    // The parent process's object, kept reachable so that a leak checker does not report it.
    const Made *parents = nullptr;
  };
  std::atomic<Made *> made_{nullptr};
};

}  // namespace lanecrypt::process
