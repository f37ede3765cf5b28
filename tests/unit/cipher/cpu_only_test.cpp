// CFB with segments of 8 bits and of 1 bit. No device has kernels for them, so the CPU does the
// job, or the job is refused if only a device may do it.
//
// SPDX-License-Identifier: Apache-2.0
#include "unit/support/devices.h"
#include "unit/support/vector_file.h"

namespace lanecrypt::test {
namespace {

class CpuOnly : public testing::TestWithParam<lc_cipher> {
 protected:
  lc_cipher cipher() const { return GetParam(); }

  BatchShape shape_of(lc_direction direction, uint32_t key_bytes, uint64_t most_bytes) {
    BatchShape shape;
    shape.cipher = cipher();
    shape.direction = direction;
    shape.key_bytes = key_bytes;
    for (uint64_t length = 0; length <= most_bytes; length++)
      shape.messages.push_back({.length = length,
                                .in_alignment = static_cast<uint32_t>(random_.below(16)),
                                .out_alignment = static_cast<uint32_t>(random_.below(16)),
                                .in_place = random_.below(2) == 0,
                                .key = static_cast<uint32_t>(random_.below(5))});
    return shape;
  }

  // Runs a batch on `device`, and checks its bytes if it is expected to succeed.
  void run(const Context &context, Batch &batch, uint32_t device, lc_status expected) {
    lc_cipher_job job = batch.job();
    job.device = device;
    job.has_device = 1;
    lc_result result{};
    result.struct_size = sizeof result;
    ASSERT_EQ(expected, lc_run(context.get(), &job, &result)) << lc_last_error();
    EXPECT_EQ(0u, result.device_bytes);
    EXPECT_EQ(expected == LC_OK ? batch.bytes() : 0u, result.cpu_bytes);
    if (expected == LC_OK)
      EXPECT_EQ("", batch.check());
    else
      EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("does no AES-"))
          << lc_last_error();
  }

  Random random_{17};
};

// SP 800-38A, appendix F.3.
TEST_P(CpuOnly, KnowsTheStandardsExamples) {
  const Context context("host", LC_FALLBACK_CPU);
  size_t cases = 0;
  for (const VectorCase &one : read_vectors("sp800_38a_feedback.txt").cases) {
    if (one.cipher.mode != cipher()) continue;
    SCOPED_TRACE(one.name);
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      const bool encrypts = direction == LC_ENCRYPT;
      Bytes text = encrypts ? one.plaintext : one.ciphertext;
      const lc_message message =
          plain_message(one.key.data(), one.iv.data(), text.data(), text.data(), text.size());
      const lc_cipher_job job = job_of(message, cipher(), direction, one.cipher.key_bytes);
      LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
      EXPECT_EQ(encrypts ? one.ciphertext : one.plaintext, text);
    }
    cases++;
  }
  EXPECT_EQ(3u, cases);
}

// Every short length with each key size, in one job: for any device, for a named one, and for the
// CPU. A job for any device does not even open the emulator.
TEST_P(CpuOnly, IsDoneByTheCpu) {
  const Context context("host", LC_FALLBACK_CPU);
  for (const uint32_t device : {uint32_t{LC_ANY_DEVICE}, uint32_t{LC_CPU}, 0u}) {
    EXPECT_EQ(LC_DEVICE_UNTRIED, context.device(0).state);
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (const uint32_t key_bytes : key_sizes(cipher())) {
        Batch batch(nullptr, shape_of(direction, key_bytes, 70), random_);
        run(context, batch, device, LC_OK);
      }
  }
  EXPECT_EQ(0u, context.counters(0).bytes);
  EXPECT_EQ(0u, context.counters(0).failures);
}

TEST_P(CpuOnly, IsRefusedIfOnlyADeviceMay) {
  const Context context("host", LC_FALLBACK_NONE);
  for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
    BatchShape shape = shape_of(direction, 16, 20);
    Batch on_host(nullptr, shape, random_);
    for (const uint32_t device : {uint32_t{LC_ANY_DEVICE}, 0u})
      run(context, on_host, device, LC_ERROR_UNSUPPORTED);
    run(context, on_host, LC_CPU, LC_OK);  // the job itself permits the CPU
    shape.data_memory = DataMemory::kDevice;
    Batch on_device(context.get(), shape, random_);
    run(context, on_device, 0, LC_ERROR_UNSUPPORTED);
  }
  EXPECT_EQ(0u, context.counters(0).failures);
}

INSTANTIATE_TEST_SUITE_P(, CpuOnly, testing::ValuesIn(cpu_only_modes()),
                         [](const testing::TestParamInfo<lc_cipher> &info) {
                           return std::string(info.param == LC_AES_CFB8 ? "Cfb8" : "Cfb1");
                         });

}  // namespace
}  // namespace lanecrypt::test
