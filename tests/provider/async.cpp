// Tests the provider in OpenSSL's ASYNC jobs, which run on stacks of 32 KiB. The provider may use
// only as much stack as a small function would.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/async.h>

#include <thread>

#include "provider/provider_under_test.h"

namespace provider_test {
namespace {

struct Work {
  EVP_CIPHER *cipher;
  Bytes *out;
};

int encrypt(void *argument) {
  const Work &work = *static_cast<Work *>(argument);
  const uint8_t key[32] = {1}, iv[16] = {2};
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  int bytes = 0;
  int result = O(EVP_CipherInit_ex2)(context, work.cipher, key, iv, 1, nullptr);
  // The first request opens the device. The second only uses it.
  for (int call = 0; call < 2 && result == 1; ++call)
    result = O(EVP_CipherUpdate)(context, work.out->data(), &bytes, work.out->data(),
                                 int(work.out->size()));
  O(EVP_CIPHER_CTX_free)(context);
  return result;
}

TEST(Async, ADeviceServesAJobOnASmallStack) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  Library library({{"devices", "host"}, {"threshold_bytes", "64"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Bytes outputs[2];
  // OpenSSL's own cipher runs on a thread with an ordinary stack, for comparison.
  for (int side : {0, 1}) {
    outputs[side].assign(100000, 7);
    Work work{library.cipher("AES-256-CTR", side == 0 ? "default" : "gpu"), &outputs[side]};
    int result = 0;
    if (side == 0) {
      result = encrypt(&work);
    } else {
      ASYNC_JOB *job = nullptr;
      ASYNC_WAIT_CTX *wait = O(ASYNC_WAIT_CTX_new)();
      ASSERT_EQ(O(ASYNC_start_job)(&job, wait, &result, encrypt, &work, sizeof work), ASYNC_FINISH);
      O(ASYNC_WAIT_CTX_free)(wait);
    }
    EXPECT_EQ(result, 1) << take_error_texts();
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 2u);
  O(ASYNC_cleanup_thread)();
}

}  // namespace
}  // namespace provider_test
