// SPDX-License-Identifier: Apache-2.0
#include "cli/io/bus_error.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace lanecrypt::cli {

struct PageGuard::Slot {
  std::atomic<uintptr_t> begin = 0, end = 0;  // 0: not in use
  std::atomic<bool> lost = false;
};

// All guarded mappings. The signal handler reads the slots without a lock while other threads add
// and remove mappings. This is safe because a slot is never freed, and the slot of a mapping does
// not change while a thread reads the mapping.
struct GuardedPages {
  using Slot = PageGuard::Slot;
  static constexpr size_t kBlockSlots = 1024;
  struct Block {
    Slot slots[kBlockSlots];
    Block *next = nullptr;
  };

  Slot *take() {
    const std::lock_guard lock(mutex);
    if (free.empty()) {
      auto *block = new Block;
      block->next = blocks;
      for (Slot &slot : block->slots) free.push_back(&slot);
      blocks = block;
    }
    Slot *const slot = free.back();
    free.pop_back();
    return slot;
  }
  void give_back(Slot *slot) {
    slot->begin = slot->end = 0;
    const std::lock_guard lock(mutex);
    free.push_back(slot);
  }
  // Replaces the page at `address`, and the rest of its mapping, by zeros, and marks the slot as
  // lost. Returns whether a guarded mapping contains `address`. Async-signal-safe.
  bool replace_lost(uintptr_t address) {
    for (Block *block = blocks; block != nullptr; block = block->next)
      for (Slot &slot : block->slots) {
        const uintptr_t begin = slot.begin, end = slot.end;
        if (address < begin || address >= end) continue;
        const uintptr_t page = address / page_bytes * page_bytes;
        slot.lost = true;
        return mmap(reinterpret_cast<void *>(page), end - page, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
      }
    return false;
  }

  const uintptr_t page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  std::atomic<Block *> blocks = nullptr;
  std::mutex mutex;
  std::vector<Slot *> free;
};

namespace {

thread_local sigjmp_buf *landing = nullptr;

// Never destroyed, because a thread may still read a mapping when the process ends.
GuardedPages &guarded() {
  static auto *const pages = new GuardedPages;
  return *pages;
}

void handle(int number, siginfo_t *info, void *) {
  if (landing != nullptr) siglongjmp(*landing, 1);
  const int error = errno;
  // A positive code means that the kernel sent the signal, not another process.
  const bool is_replaced =
      info->si_code > 0 && guarded().replace_lost(reinterpret_cast<uintptr_t>(info->si_addr));
  errno = error;
  if (!is_replaced) signal(number, SIG_DFL);  // the access is repeated and terminates the process
}

void catch_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    (void)guarded();
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
  });
}

}  // namespace

bool run_unless_bus_error(void (*run)(void *argument), void *argument) {
  catch_bus_errors();
  sigjmp_buf here;
  // The second argument saves the signal mask, because SIGBUS is blocked inside its handler.
  const bool is_whole = sigsetjmp(here, 1) == 0;
  if (is_whole) {
    landing = &here;
    run(argument);
  }
  landing = nullptr;
  return is_whole;
}

PageGuard::PageGuard(const void *mapping, size_t bytes) : slot_(guarded().take()) {
  catch_bus_errors();
  slot_->lost = false;
  slot_->begin = reinterpret_cast<uintptr_t>(mapping);
  slot_->end = reinterpret_cast<uintptr_t>(mapping) + bytes;
}

PageGuard::~PageGuard() {
  if (slot_ != nullptr) guarded().give_back(slot_);
}

PageGuard::PageGuard(PageGuard &&other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}

bool PageGuard::was_lost() const { return slot_ != nullptr && slot_->lost; }

}  // namespace lanecrypt::cli
