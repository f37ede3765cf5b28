// Whether the process has sandboxed itself since we were loaded, by seccomp. A sandbox may
// end a process that starts a thread, opens a file or asks how it stands, so then we do
// nothing of the kind. Nor after chroot() or the like, since what lies under our names then
// may be anybody's. (no_new_privs by itself forbids nothing that we do: HAProxy's workers
// set it.)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanecrypt::process {

// What /proc/self/status says of seccomp.
struct Rights {
  int64_t seccomp = 0;  // its mode; 0: none
  // How many filters seccomp has; -1: the kernel does not tell.
  int64_t filters = -1;
  bool operator==(const Rights &) const = default;
};

// Which folder "/" is; all zeros: it cannot be told.
struct Root {
  uint64_t device = 0, inode = 0;
  static Root now();
  bool operator==(const Root &) const = default;
};

// How a process stands at one moment. /proc/self/status is kept open from then on, since
// a sandbox that forbids to open it, or to ask by prctl(), may end who tries. fork() has
// a child open its own. Where there is no /proc, and in a child that was made otherwise,
// nothing is known: that counts as a sandbox.
class SandboxWatch {
 public:
  // Remembers how it stands now, before it can have sandboxed itself: at load.
  SandboxWatch();

  // Whether it could be told then how it stood: not without /proc.
  bool could_tell() const { return at_load_.seccomp >= 0 && root_at_load_ != Root{}; }

  // Whether a sandbox has come since, or nobody knows. Three system calls, some 20
  // microseconds. Any thread.
  bool has_come() const;
  // The same for many questions: once a process has been asking for some seconds, or a
  // thousand times, the answer may be a hundredth of a second old. Programs sandbox
  // themselves when they begin.
  bool had_come_lately() const;

 private:
  const Rights at_load_;
  const Root root_at_load_;
  // Of had_come_lately(), in milliseconds: the first look of a process and the last, and
  // after how many forks these were.
  mutable std::atomic<int64_t> first_look_{0}, last_look_{0};
  mutable std::atomic<uint64_t> looked_after_forks_{UINT64_MAX};
  mutable std::atomic<uint32_t> looks_{0};
};

}  // namespace lanecrypt::process
