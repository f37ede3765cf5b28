// Whether the process has sandboxed itself by seccomp since we were loaded. A sandbox may
// end a process that starts a thread, opens a file or asks for its own state, so then we
// do none of these. The same holds after chroot() or the like: then anybody's files may
// lie under our names. (no_new_privs by itself forbids nothing that we do: HAProxy's
// workers set it.)
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

// Which folder "/" is; all zeros where that cannot be told.
struct Root {
  uint64_t device = 0, inode = 0;
  static Root now();
  bool operator==(const Root &) const = default;
};

// The state of a process at one moment. /proc/self/status stays open from then on, since
// a sandbox may end a process that tries to open it or calls prctl(). After fork() the
// child opens its own. Where there is no /proc, and in a child that was made in another
// way, nothing is known. That counts as a sandbox.
class SandboxWatch {
 public:
  // Remembers the state at load, before the process can have sandboxed itself.
  SandboxWatch();

  // Whether the state at load could be told. Without /proc it cannot.
  bool could_tell() const { return at_load_.seccomp >= 0 && root_at_load_ != Root{}; }

  // Whether a sandbox has come since, or nobody knows. It costs three system calls, some
  // 20 microseconds. Any thread may call it.
  bool has_come() const;
  // The same for many questions. Once a process has been asking for some seconds, or a
  // thousand times, the answer may be a hundredth of a second old: programs sandbox
  // themselves when they begin.
  bool had_come_lately() const;

 private:
  const Rights at_load_;
  const Root root_at_load_;
  // For had_come_lately(): when the process first looked and last looked, in
  // milliseconds, and after how many forks these were.
  mutable std::atomic<int64_t> first_look_{0}, last_look_{0};
  mutable std::atomic<uint64_t> looked_after_forks_{UINT64_MAX};
  mutable std::atomic<uint32_t> looks_{0};
};

}  // namespace lanecrypt::process
