// A program's own CUDA memory and stream. Nothing is copied, and the job runs in the
// stream's order.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <vector>

#include "thread/signals.h"
#include "unit/support/batch.h"

namespace {

template <typename Function>
Function driver_function(const char *name) {
  static void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

// Calls a function of the driver; 0 is success.
template <typename... A>
int cu(const char *name, A... arguments) {
  const auto function = driver_function<int (*)(A...)>(name);
  return function == nullptr ? -1 : function(arguments...);
}

std::vector<uint8_t> by_openssl(const uint8_t *key, const uint8_t *iv,
                                const std::vector<uint8_t> &in) {
  std::vector<uint8_t> out(in.size());
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int length = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr, key, iv), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context, out.data(), &length, in.data(), int(in.size())), 1);
  EVP_CIPHER_CTX_free(context);
  return out;
}

TEST(CudaStream, RunsInTheOrderOfTheCallersStream) {
  // Without this, threads that the driver starts here would take the signals of a later
  // test.
  const lanecrypt::runtime::SignalsBlocked blocked;
  int count = 0;
  if (cu("cuInit", 0u) != 0 || cu("cuDeviceGetCount", &count) != 0 || count == 0)
    GTEST_SKIP() << "needs a GPU: there is no CUDA device";
  void *primary = nullptr, *stream = nullptr;
  ASSERT_EQ(cu("cuDevicePrimaryCtxRetain", &primary, 0), 0);
  ASSERT_EQ(cu("cuCtxSetCurrent", primary), 0);
  ASSERT_EQ(cu("cuStreamCreate", &stream, 1u), 0);

  lc_context *context = nullptr;
  lc_options options = {};
  options.struct_size = sizeof options;
  options.devices = "cuda:0";
  options.fallback = LC_FALLBACK_NONE;
  ASSERT_EQ(lc_open(&options, &context), LC_OK) << lc_last_error();

  constexpr size_t kBytes = (64 << 20) + 5;
  std::vector<uint8_t> plain(kBytes), twice(kBytes);
  uint32_t state = 1;
  for (uint8_t &byte : plain)
    byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  uint8_t first_key[32], second_key[32], iv[16];
  for (int i = 0; i < 32; ++i) first_key[i] = uint8_t(i), second_key[i] = uint8_t(200 - i);
  for (uint8_t &byte : iv) byte = 0xff;

  unsigned long long memory = 0;
  ASSERT_EQ(cu("cuMemAlloc_v2", &memory, kBytes), 0);
  // A copy, two jobs in place and a copy back. Only through the stream's order does each
  // see what the one before it left.
  ASSERT_EQ(
      cu("cuMemcpyHtoDAsync_v2", memory, static_cast<const void *>(plain.data()), kBytes, stream),
      0);
  lc_ticket *tickets[2] = {};
  for (int n = 0; n < 2; ++n) {
    void *const data = reinterpret_cast<void *>(memory);
    const lc_message message =
        lanecrypt::test::plain_message(n == 0 ? first_key : second_key, iv, data, data, kBytes);
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = LC_AES_CTR;
    job.key_bytes = 32;
    job.memory = LC_MEMORY_DEVICE;
    job.stream = stream;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    ASSERT_EQ(lc_submit(context, &job, nullptr, &tickets[n]), LC_OK) << lc_last_error();
  }
  ASSERT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(twice.data()), memory, kBytes, stream),
            0);
  ASSERT_EQ(cu("cuStreamSynchronize", stream), 0);
  EXPECT_TRUE(twice == by_openssl(second_key, iv, by_openssl(first_key, iv, plain)));
  for (lc_ticket *ticket : tickets) {
    lc_result result = {};
    result.struct_size = sizeof result;
    EXPECT_EQ(lc_ticket_wait(ticket, &result), LC_OK) << lc_last_error();
    EXPECT_EQ(result.device_bytes, kBytes);
    lc_ticket_free(ticket);
  }
  lc_close(context);
  EXPECT_EQ(cu("cuMemFree_v2", memory), 0);
  EXPECT_EQ(cu("cuStreamDestroy_v2", stream), 0);
}

}  // namespace
