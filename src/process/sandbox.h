// Whether the process has given up rights since we were loaded. A sandbox may end a
// process that starts a thread or opens a file, so then we do neither.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanecrypt::process {

// How a process stands at one moment.
class SandboxWatch {
 public:
  // Remembers how it stands now, before it can have sandboxed itself: at load.
  SandboxWatch();

  // Whether a sandbox has come since. Two system calls. In a container, whose processes
  // have a sandbox from the start, a further one shows only in /proc, which is read at
  // the first question of each process and then a hundred times a second at the most.
  // Any thread.
  bool has_come() const;

 private:
  struct State {
    int no_new_privs = 0;
    int seccomp = 0;
    // Of seccomp; -1: the kernel does not tell.
    int64_t filters = -1;
    bool operator==(const State &) const = default;
  };
  static State look(bool with_filters);

  const State at_load_;
  // The last look into /proc: when, in milliseconds, and after how many forks.
  mutable std::atomic<int64_t> looked_at_{-1};
  mutable std::atomic<uint64_t> looked_after_forks_{0};
};

}  // namespace lanecrypt::process
