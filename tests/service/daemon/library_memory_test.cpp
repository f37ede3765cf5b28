// Tests liblanecrypt as a client of a service without enough memory: each allocation fails in turn.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <span>

#include "../client/fake_service.h"
#include "library_signer.h"
#include "test_client.h"

namespace {

// For this thread: the number of allocations that succeed, and of those that then fail.
thread_local long here = 0, failing_here = 0;
// For all threads that are not spared: the number of allocations that succeed before one fails; -1:
// none fails.
std::atomic<long> elsewhere{-1};
thread_local bool is_spared = false;

bool fails_now() {
  if (failing_here > 0) return here > 0 ? --here < 0 : failing_here-- > 0;
  return !is_spared && elsewhere.load() >= 0 && elsewhere.fetch_sub(1) == 0;
}

}  // namespace

// Replace the operators of the whole program and the library: each form that a sanitizer replaces.
// They are not inlined, since gcc would warn about free().
[[gnu::noinline]] void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
  return fails_now() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void *operator new(std::size_t bytes) {
  void *const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace lanecrypt::service::test {
namespace {

using service_test::FakeService;

// A service that gives its client one channel, so that a lost channel is noticed.
class LibraryWithoutMemory : public testing::TestWithParam<lc_verify> {
 protected:
  LibraryWithoutMemory() {
    fake.most_channels = 1;
    fake.sign = [this](const SignatureSet &, std::span<const uint8_t>, const Bytes &) {
      is_spared = true;  // the thread of the fake service
      return filler_;
    };
    EXPECT_EQ(LC_OK, signer.sign()) << lc_last_error();
  }
  ~LibraryWithoutMemory() override {
    is_spared = false;
    elsewhere = -1;
  }

  void expect_clean(lc_status status, long number) {
    SCOPED_TRACE(number);
    if (status != LC_OK) {
      EXPECT_EQ(LC_ERROR_MEMORY, status) << lc_last_error();
      return;
    }
    const bool is_fakes = GetParam() != LC_VERIFY_FULL && signer.signatures[0] == filler_;
    EXPECT_TRUE(is_fakes || signer.are_right());
  }
  // Expects that nothing is left of the failed operation.
  void expect_service() {
    ASSERT_EQ(LC_OK, signer.sign()) << lc_last_error();
    EXPECT_EQ(1, fake.sessions);
    EXPECT_EQ(1, fake.opened);
    if (GetParam() == LC_VERIFY_FULL) {
      EXPECT_EQ(1u, signer.result.failed_devices);
    } else {
      EXPECT_TRUE(signer.did_service());
    }
  }

 private:
  const Bytes filler_ = Bytes(kMlDsaTried.signature_bytes, 7);

 protected:
  FakeService fake;
  LibrarySigner signer{kMlDsaTried, fake.path(), {.verify = GetParam(), .count = 1}};
};

TEST_P(LibraryWithoutMemory, ACallThatWaits) {
  constexpr long kAll = 1'000'000;
  for (const long failing : {1L, kAll}) {
    for (long number = 0;; ++number) {
      here = number;
      failing_here = failing;
      const lc_status status = signer.sign();
      const bool has_failed = failing_here < failing;
      failing_here = 0;
      expect_clean(status, number);
      if (!has_failed) break;
    }
    expect_service();
  }
}

TEST_P(LibraryWithoutMemory, ATicket) {
  is_spared = true;  // this thread only waits
  for (long number = 0;; ++number) {
    elsewhere = number;
    lc_ticket *ticket = nullptr;
    ASSERT_EQ(LC_OK, signer.submit(0, nullptr, &ticket)) << lc_last_error();
    const lc_status status = lc_ticket_wait(ticket, &signer.result);
    lc_ticket_free(ticket);
    const bool has_failed = elsewhere < 0;
    elsewhere = -1;
    expect_clean(status, number);
    if (!has_failed) break;
  }
  expect_service();
}

INSTANTIATE_TEST_SUITE_P(Checked, LibraryWithoutMemory,
                         testing::Values(LC_VERIFY_SAMPLED, LC_VERIFY_FULL),
                         [](const auto &verify) {
                           return verify.param == LC_VERIFY_FULL ? "InFull" : "BySamples";
                         });

}  // namespace
}  // namespace lanecrypt::service::test
