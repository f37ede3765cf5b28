// SPDX-License-Identifier: Apache-2.0
#include "unit/support/failing_memory.h"

#include <limits.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

namespace {

constexpr long kAlways = LONG_MAX;
std::atomic<long> times_left{kAlways};
std::atomic<bool> all_fail{false};
// the only thread whose allocations fail; none: all threads
std::atomic<std::thread::id> failing_thread;
thread_local bool is_spared = false;

bool fails_now() {
  if (is_spared || times_left == kAlways) return false;
  const std::thread::id only = failing_thread;
  if (only != std::thread::id() && only != std::this_thread::get_id()) return false;
  const long left = times_left.fetch_sub(1);
  return left == 0 || left == -1 || (left < 0 && all_fail);
}

// A static initialiser: CRYPTO_set_mem_functions() must run before OpenSSL allocates anything.
const int is_set = CRYPTO_set_mem_functions(
    [](size_t bytes, const char *, int) { return fails_now() ? nullptr : std::malloc(bytes); },
    [](void *memory, size_t bytes, const char *, int) {
      return fails_now() ? nullptr : std::realloc(memory, bytes);
    },
    [](void *memory, const char *, int) { std::free(memory); });

}  // namespace

// The leak check is off because OpenSSL leaks memory if one of its allocations fails.
#ifdef __SANITIZE_ADDRESS__
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return 1; }
#endif

[[gnu::noinline]] void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
  if (fails_now()) return nullptr;
  return std::malloc(bytes != 0 ? bytes : 1);
}
[[gnu::noinline]] void *operator new(std::size_t bytes) {
  if (void *memory = ::operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace lanecrypt::test {

namespace {

void begin_failing(long allocations, bool lasts, std::thread::id where) {
  failing_thread = where;
  all_fail = lasts;
  times_left = allocations;
}

}  // namespace

void fail_after(long allocations, bool lasts) { begin_failing(allocations, lasts, {}); }

void fail_here_after(long allocations, bool lasts) {
  begin_failing(allocations, lasts, std::this_thread::get_id());
}

bool end_failing() { return times_left.exchange(kAlways) < 0; }

void spare_this_thread(bool is) { is_spared = is; }

bool openssl_fails_too() { return is_set == 1; }

}  // namespace lanecrypt::test
