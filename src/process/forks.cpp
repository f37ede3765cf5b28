// Detects that the process's memory was copied by fork() or a similar call.
//
// SPDX-License-Identifier: Apache-2.0
#include "process/forks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

namespace lanecrypt::process {
namespace {

// Copied into every child, like all memory.
std::atomic<uint64_t> count{0};

// map_mark() maps a page that the kernel zeroes in every child, whichever system call creates it.
std::atomic<uint32_t> *map_mark() {
  const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    munmap(page, bytes);
    return nullptr;
  }
  auto *mark = static_cast<std::atomic<uint32_t> *>(page);
  *mark = 1;
  return mark;
}

// make_mark() returns the mark. Kernels before 4.14 do not support such pages. There, the C
// library's fork handlers detect fork(), but no other call.
std::atomic<uint32_t> *make_mark() {
  std::atomic<uint32_t> *mark = map_mark();
  if (mark != nullptr) return mark;
  static std::atomic<uint32_t> plain{1};
  (void)pthread_atfork(nullptr, nullptr, [] { plain = 0; });
  return &plain;
}

std::atomic<uint32_t> &made_mark() {
  static std::atomic<uint32_t> *const made = make_mark();
  return *made;
}

// The mark is made at load time, by the first static object that needs it. If it were made later, a
// child could inherit it half made.
[[maybe_unused]] const uint64_t at_load = forks();

}  // namespace

uint64_t forks() {
  std::atomic<uint32_t> &mark = made_mark();
  if (mark.load(std::memory_order_acquire) == 1) return count.load(std::memory_order_relaxed);
  // The first thread of a child increments the count. The others wait until it has.
  uint32_t empty = 0;
  constexpr uint32_t kCounting = 2;
  if (mark.compare_exchange_strong(empty, kCounting)) {
    ++count;
    mark.store(1, std::memory_order_release);
  }
  while (mark.load(std::memory_order_acquire) != 1) {
  }
  return count.load(std::memory_order_relaxed);
}

}  // namespace lanecrypt::process
