// Reading mapped files, whose pages can be lost: others shorten the file, or the disk fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt::cli {

// Calls run(argument). False if it touched a page of a mapping beyond the end of its
// file, for which the kernel sends SIGBUS. run() is then left in the middle, without
// destructors, so it must be plain C that holds no lock. Any thread may call this.
bool run_unless_bus_error(void (*run)(void *argument), void *argument);

// While it lives, no thread gets a SIGBUS for a page of this mapping that cannot be read. Instead
// that page and those behind it read as zeros from then on, and was_lost() says so. Make it before
// any thread reads the mapping, and destroy it when none does any more.
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
