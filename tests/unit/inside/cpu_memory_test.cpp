// Where threads of the library's find no memory, what they do fails, and the process goes on. Each
// allocation of such a thread, and of OpenSSL there, fails in turn, with the one after it: to tell
// of a failure may want memory too.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <limits.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "cipher/cpu_worker.h"
#include "cpu/rsa/prime_key.h"
#include "primes/prime_tester.h"
#include "unit/support/one_message.h"

namespace {

// Of all threads but the test's own: so many allocations succeed, and then two fail.
constexpr long kAlways = LONG_MAX;
std::atomic<long> times_left{kAlways};
thread_local bool is_spared = false;

bool fails_now() {
  if (is_spared || times_left == kAlways) return false;
  const long left = times_left.fetch_sub(1);
  return left == 0 || left == -1;
}

// Before OpenSSL allocates anything.
const int is_set = CRYPTO_set_mem_functions(
    [](size_t bytes, const char *, int) { return fails_now() ? nullptr : std::malloc(bytes); },
    [](void *memory, size_t bytes, const char *, int) {
      return fails_now() ? nullptr : std::realloc(memory, bytes);
    },
    [](void *memory, const char *, int) { std::free(memory); });

}  // namespace

// OpenSSL loses memory where it fails to allocate more.
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

// Does `work` until it finds all the memory that it wants, and then does well. How often it failed.
template <typename Work>
int fail_in_turn(const Work &work) {
  is_spared = true;
  int failures = 0;
  for (int times = 0; times < 1000; ++times) {
    times_left = times;
    const Status status = work();
    const bool has_struck = times_left < 0;
    times_left = kAlways;
    if (!has_struck) {
      EXPECT_TRUE(status.ok()) << status.text();
      return failures;
    }
    failures += status.ok() ? 0 : 1;
  }
  ADD_FAILURE() << "it never ends";
  return failures;
}

// First, so that the threads of the worker fetch the ciphers too.
TEST(WithoutMemory, ACipherOnSeveralCores) {
  std::vector<uint8_t> key(32), iv(16), text(4 << 20);
  const lc_message message =
      plain_message(key.data(), iv.data(), text.data(), text.data(), text.size());
  EXPECT_LT(0, fail_in_turn([&] {
              const lc_cipher_job job = job_of(message, LC_AES_CTR);
              Result<CipherJob> made = make_cipher_job(&job);
              const auto request = std::make_shared<runtime::Request>(std::move(*made), nullptr);
              runtime::Workers workers(2);
              runtime::CpuWorker worker(workers, 2);
              worker.submit(request);
              return request->wait();
            }));
}

TEST(WithoutMemory, AMessageWithATag) {
  std::vector<uint8_t> key(32), nonce(12), text(100), aad(20), tag(16);
  lc_message message =
      plain_message(key.data(), nonce.data(), text.data(), text.data(), text.size());
  message.aad = aad.data();
  message.aad_length = aad.size();
  message.tag = tag.data();
  (void)fail_in_turn([&] {
    const lc_cipher_job job = job_of(message, LC_AES_GCM);
    Result<CipherJob> made = make_cipher_job(&job);
    const auto request = std::make_shared<runtime::Request>(std::move(*made), nullptr);
    runtime::Workers workers(2);
    runtime::CpuWorker worker(workers, 2);
    worker.submit(request);
    return request->wait();
  });
}

TEST(WithoutMemory, ATestOfPrimes) {
  ASSERT_EQ(1, is_set);
  constexpr uint32_t kBits = 512;
  constexpr size_t kTrials = 8;
  const auto tester = runtime::make_cpu_primes(2);
  ASSERT_TRUE(tester->reserve(kBits, kTrials, kTrials).ok());
  const size_t stride = cpu::prime_stride_bytes(kBits);
  std::vector<uint32_t> trials(kTrials);
  std::vector<uint8_t> passed(kTrials);
  for (uint32_t n = 0; n < kTrials; ++n) {
    trials[n] = n;
    // Odd numbers that are no primes, and bases.
    tester->candidates()[n * stride] = 0xc0;
    tester->candidates()[n * stride + stride - 1] = 1;
    tester->bases()[n * stride + stride - 1] = 2;
  }
  EXPECT_LT(0, fail_in_turn([&] {
              is_spared = false;  // this thread is one of them
              const Status status = tester->test(kBits, trials, passed);
              is_spared = true;
              return status;
            }));
}

}  // namespace
}  // namespace lanecrypt::test
