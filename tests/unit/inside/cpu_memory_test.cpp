// If threads of the library cannot allocate memory, their work fails, and the process continues.
// Each allocation of such a thread, and of OpenSSL on it, fails in turn, together with the next
// one, because reporting a failure may need memory too.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "cipher/cpu_worker.h"
#include "cpu/rsa/prime_key.h"
#include "primes/prime_tester.h"
#include "unit/support/failing_memory.h"
#include "unit/support/one_message.h"

namespace lanecrypt::test {
namespace {

// This test is first, so that the worker's threads fetch the ciphers too.
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
  ASSERT_TRUE(openssl_fails_too());
  constexpr uint32_t kBits = 512;
  constexpr size_t kTrials = 8;
  const auto tester = runtime::make_cpu_primes(2);
  ASSERT_TRUE(tester->reserve(kBits, kTrials, kTrials).ok());
  const size_t stride = cpu::prime_stride_bytes(kBits);
  std::vector<uint32_t> trials(kTrials);
  std::vector<uint8_t> passed(kTrials);
  for (uint32_t n = 0; n < kTrials; ++n) {
    trials[n] = n;
    // Odd composite numbers, and bases.
    tester->candidates()[n * stride] = 0xc0;
    tester->candidates()[n * stride + stride - 1] = 1;
    tester->bases()[n * stride + stride - 1] = 2;
  }
  EXPECT_LT(0, fail_in_turn([&] {
              spare_this_thread(false);  // this thread does a part of the work
              const Status status = tester->test(kBits, trials, passed);
              spare_this_thread(true);
              return status;
            }));
}

}  // namespace
}  // namespace lanecrypt::test
