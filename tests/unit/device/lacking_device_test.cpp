// A device that lacks the kernels for a job has not failed. Other devices or the CPU do the job,
// and no failure is counted. The emulator has only the kernels that LANECRYPT_HOST_KERNELS names.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "unit/support/devices.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

class LackingDevice : public testing::Test {
 protected:
  // Opens `count` emulators. If there are two, the second has all kernels.
  void open(const char *count, const char *kernels, lc_fallback fallback) {
    context_.reset();
    kernels_.reset();
    count_.reset();
    count_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_DEVICES", count);
    kernels_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_KERNELS", kernels);
    context_ = std::make_unique<Context>("host", fallback);
  }

  lc_result run(lc_cipher cipher, uint32_t device, lc_status expected = LC_OK) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = LC_DECRYPT;
    shape.messages.resize(2, {.length = 4096});
    Batch batch(nullptr, shape, random_);
    lc_cipher_job job = batch.job();
    job.device = device;
    job.has_device = 1;
    lc_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(expected, lc_run(context_->get(), &job, &result)) << lc_last_error();
    if (expected == LC_OK) {
      EXPECT_EQ("", batch.check());
      EXPECT_EQ(2u * 4096, result.device_bytes + result.cpu_bytes);
    }
    EXPECT_EQ(0u, result.failed_devices);
    return result;
  }

  void expect_no_failure() {
    EXPECT_EQ(0u, context_->counters(0).failures);
    EXPECT_STREQ("", context_->device(0).reason);
    EXPECT_LE(context_->device(0).state, LC_DEVICE_READY);
    EXPECT_EQ(LC_DEVICE_UNTRIED, context_->device(0).rsa_state);
  }

  std::unique_ptr<ScopedEnvironment> count_, kernels_;
  std::unique_ptr<Context> context_;
  Random random_{51};
};

constexpr char kNoCbc[] = "aes_bitslice_ctr,aes_bitslice_ecb,aes_expand";

// The first job finds out which kernels the device has. Later jobs that need others are not given
// to it.
TEST_F(LackingDevice, LeavesItToTheCpu) {
  for (const uint32_t device : {uint32_t{LC_ANY_DEVICE}, 0u}) {
    open("1", kNoCbc, LC_FALLBACK_CPU);
    for (int n = 0; n < 3; n++) EXPECT_EQ(0u, run(LC_AES_CBC, device).device_bytes);
    EXPECT_EQ(0u, run(LC_AES_CTR, device).cpu_bytes) << "it lacks nothing for that";
    EXPECT_EQ(LC_DEVICE_READY, context_->device(0).state);
    expect_no_failure();
  }
}

TEST_F(LackingDevice, LeavesItToAnother) {
  open("2", kNoCbc, LC_FALLBACK_NONE);
  for (int n = 0; n < 4; n++) run(LC_AES_CBC, LC_ANY_DEVICE);
  EXPECT_EQ(4u, context_->counters(1).jobs);
  expect_no_failure();
}

TEST_F(LackingDevice, SaysSoWhereNothingElseMay) {
  for (const uint32_t device : {uint32_t{LC_ANY_DEVICE}, 0u}) {
    open("1", kNoCbc, LC_FALLBACK_NONE);
    for (int n = 0; n < 2; n++) {
      run(LC_AES_CBC, device, LC_ERROR_UNSUPPORTED);
      EXPECT_STREQ("host:0 does no AES-128-CBC decryption", lc_last_error());
    }
    expect_no_failure();
  }
}

// The device orders key schedules for the stream kernels as a device with all kernels does.
TEST_F(LackingDevice, EncryptsStreamsByTables) {
  for (const char *form : {"table4", "table1"}) {
    SCOPED_TRACE(form);
    const ScopedEnvironment wanted("LANECRYPT_AES_FORM", form);
    open("1", "aes_", LC_FALLBACK_NONE);
    BatchShape shape;
    shape.cipher = LC_AES_CBC;
    for (uint32_t key = 0; key < 3; key++) shape.messages.push_back({.length = 4096, .key = key});
    Batch batch(nullptr, shape, random_);
    const lc_cipher_job job = batch.job();
    lc_result result{};
    result.struct_size = sizeof result;
    LANECRYPT_ASSERT_OK(lc_run(context_->get(), &job, &result));
    EXPECT_EQ("", batch.check());
    EXPECT_EQ(3u * 4096, result.device_bytes);
    expect_no_failure();
  }
}

// A device that really fails is lost, even if it lacks kernels too.
TEST_F(LackingDevice, MayFailBesides) {
  const ScopedEnvironment fault("LANECRYPT_HOST_FAULT", "lost-after:0");
  open("1", kNoCbc, LC_FALLBACK_CPU);
  BatchShape shape;
  shape.cipher = LC_AES_CTR;
  shape.messages = {{.length = 4096}};
  Batch batch(nullptr, shape, random_);
  const lc_cipher_job job = batch.job();
  lc_result result{};
  result.struct_size = sizeof result;
  LANECRYPT_ASSERT_OK(lc_run(context_->get(), &job, &result));
  EXPECT_EQ(1u, result.failed_devices);
  EXPECT_EQ(1u, context_->counters(0).failures);
  EXPECT_EQ(LC_DEVICE_LOST, context_->device(0).state);
  run(LC_AES_CBC, LC_ANY_DEVICE);
}

class LackingRsa : public LackingDevice {
 protected:
  void SetUp() override {
    const lc_rsa_parts parts = key_of_bits(1024).parts();
    ASSERT_EQ(LC_OK, lc_rsa_key_new(&parts, &key_)) << lc_last_error();
  }
  void TearDown() override { lc_rsa_key_free(key_); }

  lc_result sign(uint32_t device, lc_status expected = LC_OK) {
    Bytes in(128, 1), out(128);
    lc_rsa_message message{};
    message.key = key_;
    message.in = in.data();
    message.out = out.data();
    lc_rsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_RSA_PRIVATE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    job.device = device;
    job.has_device = 1;
    lc_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(expected, lc_rsa_run(context_->get(), &job, &result)) << lc_last_error();
    if (expected == LC_OK) {
      EXPECT_EQ(out, key_of_bits(1024).power(in, key_of_bits(1024).secret.get()));
    }
    EXPECT_EQ(0u, result.failed_devices);
    return result;
  }

  lc_result generate(uint32_t device, lc_status expected = LC_OK) {
    const uint8_t exponent[] = {1, 0, 1};
    lc_rsa_generation generation{};
    generation.struct_size = sizeof generation;
    generation.bits = 1024;
    generation.exponent = {exponent, sizeof exponent};
    generation.count = 1;
    generation.device = device;
    generation.has_device = 1;
    generation.on_key = [](void *, uint64_t, const lc_rsa_parts *) { return 1; };
    lc_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(expected, lc_rsa_generate(context_->get(), &generation, &result)) << lc_last_error();
    EXPECT_EQ(0u, result.failed_devices);
    return result;
  }

  lc_rsa_key *key_ = nullptr;
};

TEST_F(LackingRsa, IsTheCpus) {
  for (const uint32_t device : {uint32_t{LC_ANY_DEVICE}, 0u}) {
    open("1", "aes_", LC_FALLBACK_CPU);
    EXPECT_EQ(1u, sign(device).cpu_operations);
    const lc_result made = generate(device);
    EXPECT_EQ(0u, made.device_operations);
    EXPECT_GT(made.cpu_operations, 0u);
    EXPECT_EQ(0, lc_rsa_generation_prefers_device(context_->get(), 8192));
    expect_no_failure();
  }
}

TEST_F(LackingRsa, IsAnothers) {
  for (const lc_fallback fallback : {LC_FALLBACK_NONE, LC_FALLBACK_CPU}) {
    open("2", "aes_", fallback);
    EXPECT_EQ(1u, sign(LC_ANY_DEVICE).device_operations);
    EXPECT_EQ(1u, sign(1).device_operations);
    EXPECT_EQ(0u, generate(1).cpu_operations);
    expect_no_failure();
  }
  // A job that names a device can only fall back to the CPU.
  open("2", "aes_", LC_FALLBACK_CPU);
  EXPECT_EQ(1u, sign(0).cpu_operations);
  expect_no_failure();
}

TEST_F(LackingRsa, SaysSoWhereNothingElseMay) {
  for (const uint32_t device : {uint32_t{LC_ANY_DEVICE}, 0u}) {
    open("1", "aes_", LC_FALLBACK_NONE);
    sign(device, LC_ERROR_UNSUPPORTED);
    EXPECT_STREQ("host:0 does no RSA", lc_last_error());
    generate(device, LC_ERROR_UNSUPPORTED);
    EXPECT_STREQ("host:0 does no RSA", lc_last_error());
    expect_no_failure();
  }
}

// OpenGL has neither chained authenticated modes nor RSA.
TEST_F(LackingRsa, AsOpenGlHasIt) {
  Context none("none", LC_FALLBACK_NONE);
  bool has_gl = false;
  uint32_t count = 0;
  LANECRYPT_ASSERT_OK(lc_device_count(none.get(), &count));
  for (uint32_t n = 0; n < count; n++)
    has_gl = has_gl || std::strcmp(none.device(n).api, "gl") == 0;
  if (!has_gl) GTEST_SKIP() << "there is no EGL here, or it has no device";
  context_ = std::make_unique<Context>("gl", LC_FALLBACK_CPU);
  if (lc_device_test(context_->get(), 0) == LC_ERROR_NO_DEVICE) GTEST_SKIP() << lc_last_error();
  EXPECT_EQ(0u, run(LC_AES_CBC_CS3, LC_ANY_DEVICE).device_bytes);
  EXPECT_EQ(1u, sign(LC_ANY_DEVICE).cpu_operations);
  expect_no_failure();
}

}  // namespace
}  // namespace lanecrypt::test
