// What is special about OpenGL: software renderers, modes that it lacks, buffers that are too
// large, and lost contexts.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "lanecrypt/lanecrypt.hpp"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

class Gl : public testing::Test {
 protected:
  void SetUp() override {
    Context context("gl", LC_FALLBACK_NONE);
    uint32_t count = 0;
    if (lc_device_count(context.get(), &count) != LC_OK)
      GTEST_SKIP() << "there is no EGL here, or it has no device";
    id_ = context.device(0).id;
    const lc_status status = lc_device_test(context.get(), 0);
    if (status != LC_OK && std::strstr(lc_last_error(), "has not what any kernel needs") != nullptr)
      GTEST_SKIP() << lc_last_error();
    LANECRYPT_ASSERT_OK(status);
  }
  Batch make(Context &context, lc_cipher cipher, uint64_t length) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.key_bytes = cipher == LC_AES_XTS ? 32 : 16;
    shape.messages = {{.length = length}};
    return Batch(context.get(), shape, random_);
  }

  std::string id_;
  Random random_{31};
};

TEST_F(Gl, IsNotChosenWhereItIsTheCpu) {
  Context context("", LC_FALLBACK_CPU);
  uint32_t count = 0;
  LANECRYPT_ASSERT_OK(lc_device_count(context.get(), &count));
  for (uint32_t index = 0; index < count; index++) {
    const lc_device_info info = context.device(index);
    const bool is_cpu = std::strcmp(info.api, "gl") == 0 && !info.is_gpu;
    EXPECT_FALSE(is_cpu && info.selected) << info.id;
  }
}

TEST_F(Gl, LeavesOtherModesToTheCpu) {
  Context context(id_.c_str(), LC_FALLBACK_CPU);
  LANECRYPT_ASSERT_OK(lc_device_test(context.get(), 0));
  Batch other = make(context, LC_AES_XTS, 4000), ours = make(context, LC_AES_CTR, 4001);
  for (Batch *batch : {&other, &ours}) {
    const lc_cipher_job job = batch->job();
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    EXPECT_EQ("", batch->check());
  }
  EXPECT_EQ(4000u, context.counters(LC_CPU).bytes);
  EXPECT_EQ(4001u, context.counters(0).bytes);
  EXPECT_EQ(LC_DEVICE_READY, context.device(0).state);
}

TEST_F(Gl, SaysWhatIsTooLarge) {
  Context context(id_.c_str(), LC_FALLBACK_NONE);
  void *memory = nullptr;
  EXPECT_EQ(LC_ERROR_MEMORY, lc_alloc_device(context.get(), 0, size_t{1} << 40, &memory));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "at most")) << lc_last_error();
}

TEST_F(Gl, LosesItsContextAndTheCpuGoesOn) {
  const ScopedEnvironment fault("LANECRYPT_GL_FAULT", "lost-after:3");
  Context context(id_.c_str(), LC_FALLBACK_CPU);
  for (int n = 0; n < 4; n++) {
    Batch batch = make(context, LC_AES_CTR, 70000);
    const lc_cipher_job job = batch.job();
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    EXPECT_EQ("", batch.check()) << "job " << n;
  }
  EXPECT_EQ(70000u, context.counters(0).bytes);
  EXPECT_EQ(3 * 70000u, context.counters(LC_CPU).bytes);
  const lc_device_info info = context.device(0);
  EXPECT_EQ(LC_DEVICE_LOST, info.state);
  EXPECT_NE(nullptr, std::strstr(info.reason, "context was lost")) << info.reason;
}

// A large message takes several dispatches. CBC decryption needs the previous block, which can
// belong to the previous dispatch.
TEST_F(Gl, DispatchesGoOnWhereTheyEnded) {
  Context context(id_.c_str(), LC_FALLBACK_NONE);
  for (const lc_cipher cipher : {LC_AES_CBC, LC_AES_CTR}) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = LC_DECRYPT;
    shape.data_memory = DataMemory::kDevice;
    const uint64_t odd = cipher == LC_AES_CTR ? 5 : 0;
    shape.messages = {{.length = 48}, {.length = (16 << 20) + 4800 + odd}, {.length = 1600}};
    Batch batch(context.get(), shape, random_);
    const lc_cipher_job job = batch.job();
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    EXPECT_EQ("", batch.check());
  }
}

}  // namespace
}  // namespace lanecrypt::test
