// Handles bus errors in mapped files: a page cannot be read if another process has truncated the
// file, or if the disk fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt::cli {

// Calls run(argument). Returns false if it touched a page of a mapping that cannot be read, for
// which the kernel sends SIGBUS. `run` is then left by siglongjmp() without running destructors, so
// it must be C-like code that holds no lock. Thread-safe.
bool run_unless_bus_error(void (*run)(void *argument), void *argument);

// While a PageGuard exists, no thread receives SIGBUS for an unreadable page of its mapping.
// Instead that page and all later ones of the mapping read as zeros from then on, and was_lost()
// returns true. Create the guard before any thread reads the mapping, and destroy it when no thread
// reads it any more.
class PageGuard {
 public:
  PageGuard(const void *mapping, size_t bytes);
  ~PageGuard();
  PageGuard(PageGuard &&other) noexcept;
  PageGuard &operator=(PageGuard &&) = delete;

  bool was_lost() const;

 private:
  struct Slot;
  friend struct GuardedPages;
  Slot *slot_;
};

}  // namespace lanecrypt::cli
