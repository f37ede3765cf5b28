// Tells whether the process has sandboxed itself by seccomp since we were loaded. A sandbox may
// kill a process that starts a thread, opens a file or queries its own state, so then we do none of
// these. The same holds after chroot() or the like: files of other users may then have our paths.
// (no_new_privs by itself forbids nothing that we do: HAProxy's workers set it.)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanecrypt::process {

// Rights is the seccomp state in /proc/self/status.
struct Rights {
  int64_t seccomp = 0;  // the mode; 0: none
  // The number of seccomp filters; -1 if the kernel does not report it.
  int64_t filters = -1;
  bool operator==(const Rights &) const = default;
};

// Root identifies the folder "/"; all zeros if it cannot be determined.
struct Root {
  uint64_t device = 0, inode = 0;
  static Root now();
  bool operator==(const Root &) const = default;
};

// SandboxWatch remembers the state of a process at one moment. /proc/self/status stays open from
// then on, because a sandbox may kill a process that tries to open it or calls prctl(). After
// fork() the child opens its own. Without /proc, and in a child that was created in another way,
// the state is unknown. That counts as a sandbox.
class SandboxWatch {
 public:
  // The constructor remembers the state at load time, before the process can have sandboxed itself.
  SandboxWatch();

  // could_tell() says whether the state at load time could be determined. Without /proc it cannot.
  bool could_tell() const { return at_load_.seccomp >= 0 && root_at_load_ != Root{}; }

  // has_come() says whether the process has sandboxed itself since then, or the state is unknown.
  // It costs three system calls, about 20 microseconds. Thread-safe.
  bool has_come() const;
  // had_come_lately() is the same for frequent calls. Once a process has called it for some
  // seconds, or a thousand times, the answer may be a hundredth of a second old: programs sandbox
  // themselves when they begin. Thread-safe.
  bool had_come_lately() const;

 private:
  const Rights at_load_;
  const Root root_at_load_;
  // For had_come_lately(): the times of the first and the last check, in milliseconds, and the
  // value of forks() then.
  mutable std::atomic<int64_t> first_look_{0}, last_look_{0};
  mutable std::atomic<uint64_t> looked_after_forks_{UINT64_MAX};
  mutable std::atomic<uint32_t> looks_{0};
};

}  // namespace lanecrypt::process
