// An object that exists once per process, such as a registry of open devices, and that a child of
// fork() creates anew.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "process/forks.h"

namespace lanecrypt::process {

// OfProcess has a T for this process, which is created at the first use by any thread and never
// destroyed, because threads may outlive the process's static objects. A child does not touch its
// parent's T, because a thread that does not exist in the child may have been changing it, with a
// lock that stays locked. An OfProcess must have static storage and is initialised at compile time:
// the initialisation of a static T would need a lock too.
template <typename T>
class OfProcess {
 public:
  // get() returns the T of this process. Thread-safe.
  T &get() {
    Made *known = made_.load();
    if (known != nullptr && known->born_in == forks()) return known->value;
    auto *const made = new Made{.parents = known};
    if (made_.compare_exchange_strong(known, made)) return made->value;
    delete made;  // another thread was faster
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
