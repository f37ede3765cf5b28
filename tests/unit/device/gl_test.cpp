// What only OpenGL has: software renderers, modes that it does not do, buffers that are
// too large, and lost contexts.
//
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cstring>

#include "abi/device_xor.h"
#include "lanecrypt/lanecrypt.hpp"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

// With compute shaders, if the driver has them, and with fragment shaders.
class Gl : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    Context none("none", LC_FALLBACK_NONE);
    uint32_t count = 0;
    LANECRYPT_ASSERT_OK(lc_device_count(none.get(), &count));
    for (uint32_t index = 0; index < count && id_.empty(); index++)
      if (std::strcmp(none.device(index).api, "gl") == 0) id_ = none.device(index).id;
    if (id_.empty()) GTEST_SKIP() << "there is no EGL here, or it has no device";
    Context context(id_.c_str(), LC_FALLBACK_NONE);
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
  ScopedEnvironment shaders_{"LANECRYPT_GL", GetParam()};
  Random random_{31};
};

TEST_P(Gl, IsNotChosenWhereItIsTheCpu) {
  Context context("", LC_FALLBACK_CPU);
  uint32_t count = 0;
  LANECRYPT_ASSERT_OK(lc_device_count(context.get(), &count));
  for (uint32_t index = 0; index < count; index++) {
    const lc_device_info info = context.device(index);
    const bool is_cpu = std::strcmp(info.api, "gl") == 0 && !info.is_gpu;
    EXPECT_FALSE(is_cpu && info.selected) << info.id;
  }
}

TEST_P(Gl, LeavesOtherModesToTheCpu) {
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

TEST_P(Gl, SaysWhatIsTooLarge) {
  Context context(id_.c_str(), LC_FALLBACK_NONE);
  void *memory = nullptr;
  EXPECT_EQ(LC_ERROR_MEMORY, lc_alloc_device(context.get(), 0, size_t{1} << 40, &memory));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "at most")) << lc_last_error();
}

TEST_P(Gl, LosesItsContextAndTheCpuGoesOn) {
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

// Fragments cannot do chains. If a device has only fragments, the CPU does them.
TEST_P(Gl, EncryptsChainsByComputeShadersAlone) {
  Context context(id_.c_str(), LC_FALLBACK_CPU);
  LANECRYPT_ASSERT_OK(lc_device_test(context.get(), 0));
  Batch chain = make(context, LC_AES_CBC, 4000), blocks = make(context, LC_AES_ECB, 4000);
  for (Batch *batch : {&chain, &blocks}) {
    const lc_cipher_job job = batch->job();
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    EXPECT_EQ("", batch->check());
  }
  EXPECT_EQ(std::strcmp(GetParam(), "shaders=fragment") == 0 ? 4000u : 8000u,
            context.counters(0).bytes);
}

// A pass of fragments ends at 4 MiB. CBC decryption needs the block before, which is then
// in the pass before. Bytes must come to their places.
TEST_P(Gl, PassesGoOnWhereTheyEnded) {
  Context context(id_.c_str(), LC_FALLBACK_NONE);
  for (const lc_cipher cipher : {LC_AES_CBC, LC_AES_CTR}) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = LC_DECRYPT;
    shape.place = Place::kDevice;
    const uint64_t odd = cipher == LC_AES_CTR ? 5 : 0;
    shape.messages = {{.length = 48}, {.length = (16 << 20) + 4800 + odd}, {.length = 1600}};
    Batch batch(context.get(), shape, random_);
    const lc_cipher_job job = batch.job();
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    EXPECT_EQ("", batch.check());
  }
}

TEST_P(Gl, RefusesASettingWithWhatItMayBe) {
  const ScopedEnvironment setting("LANECRYPT_GL", "shaders=vertex");
  Context context(id_.c_str(), LC_FALLBACK_NONE);
  EXPECT_NE(LC_OK, lc_device_test(context.get(), 0));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "shaders=compute")) << lc_last_error();
}

INSTANTIATE_TEST_SUITE_P(, Gl, testing::Values("shaders=compute", "shaders=fragment"),
                         [](const testing::TestParamInfo<const char *> &one) {
                           return std::string(std::strchr(one.param, '=') + 1);
                         });

// Chains show which shaders a device uses: fragments do none.
TEST(GlDefault, IsComputeShadersWhereTheDriverHasThem) {
  const auto status_of = [](const char *shaders) {
    const ScopedEnvironment setting("LANECRYPT_GL", shaders);
    Context context("gl", LC_FALLBACK_NONE);
    const lc_status status = lc_device_test(context.get(), 0);
    if (status != LC_OK) return status;
    Random random(79);
    BatchShape shape;
    shape.cipher = LC_AES_CBC;
    shape.messages = {{.length = 64}};
    Batch batch(context.get(), shape, random);
    const lc_cipher_job job = batch.job();
    return lc_run(context.get(), &job, nullptr);
  };
  Context none("none", LC_FALLBACK_NONE);
  uint32_t count = 0, of_gl = 0;
  LANECRYPT_ASSERT_OK(lc_device_count(none.get(), &count));
  for (uint32_t index = 0; index < count; index++)
    of_gl += std::strcmp(none.device(index).api, "gl") == 0;
  if (of_gl == 0) GTEST_SKIP() << "there is no EGL here, or it has no device";
  const lc_status by_compute = status_of("shaders=compute");
  EXPECT_EQ(by_compute == LC_OK ? LC_OK : LC_ERROR_UNSUPPORTED, status_of(nullptr));
  EXPECT_TRUE(by_compute == LC_OK || by_compute == LC_ERROR_NO_DEVICE) << by_compute;
}

// Why the first device of OpenGL cannot use a way: there is no device, or it has only
// OpenGL ES, which lacks the XOR of raster units. Otherwise "", and the device passes its
// self-test.
std::string lack_of(lc_context *context, const std::string &way) {
  uint32_t count = 0;
  if (lc_device_count(context, &count) != LC_OK) return "there is no EGL here, or it has no device";
  const lc_status status = lc_device_test(context, 0);
  if (status == LC_ERROR_NO_DEVICE && way.find("raster") != std::string::npos)
    return lc_last_error();
  EXPECT_EQ(LC_OK, status) << lc_last_error();
  return "";
}

// Ways of chips without integers. Their numbers must be exact all the same. A quarter of
// a MiB of random text XORs every pair of bytes about a hundred times.
class GlWays : public testing::TestWithParam<std::string> {};

TEST_P(GlWays, EncryptEveryByteRight) {
  const ScopedEnvironment way("LANECRYPT_GL", GetParam().c_str());
  Context context("gl", LC_FALLBACK_CPU);
  if (const std::string lack = lack_of(context.get(), GetParam()); !lack.empty())
    GTEST_SKIP() << lack;
  Random random(77);
  uint64_t bytes = 0;
  for (const uint32_t key_bytes : {16u, 24u, 32u}) {
    BatchShape shape;
    shape.key_bytes = key_bytes;
    shape.messages = {{.length = 16, .in_alignment = 3, .out_alignment = 1},
                      {.length = 4096, .key = 1},
                      {.length = key_bytes == 16 ? 1u << 18 : 70000, .key = 2},
                      {.length = 4112, .in_place = true, .key = 2}};
    Batch batch(context.get(), shape, random);
    bytes += batch.bytes();
    const lc_cipher_job job = batch.job();
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    EXPECT_EQ("", batch.check()) << "keys of " << key_bytes << " bytes";
  }
  EXPECT_EQ(bytes, context.counters(0).bytes);
}

// Rounds have 256 blocks in a row of a texture, or 128. What textures cannot hold goes in
// several passes.
class GlRows : public testing::TestWithParam<std::string> {};

TEST_P(GlRows, GoOnWhereTexturesEnd) {
  const ScopedEnvironment way("LANECRYPT_GL", GetParam().c_str());
  const ScopedEnvironment small("LANECRYPT_GL_FAULT", "texture-side:1024");
  Context context("gl", LC_FALLBACK_NONE);
  if (const std::string lack = lack_of(context.get(), GetParam()); !lack.empty())
    GTEST_SKIP() << lack;
  Random random(78);
  BatchShape shape;
  shape.place = Place::kDevice;  // in one launch
  const uint64_t room = GetParam().find("sgather") != std::string::npos ? 2 << 20 : 4 << 20;
  shape.messages = {{.length = room + 4800}};
  Batch batch(context.get(), shape, random);
  const lc_cipher_job job = batch.job();
  LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
  EXPECT_EQ("", batch.check());
}

// What lc_device_xor() measures: all pairs of bytes, drawn once and many times.
class GlXor : public testing::TestWithParam<const char *> {
 protected:
  void check(uint64_t bytes);
};

void GlXor::check(uint64_t bytes) {
  const ScopedEnvironment setting("LANECRYPT_GL", GetParam());
  lanecrypt::Context context("gl", LC_FALLBACK_CPU);
  if (const std::string lack = lack_of(context.get(), GetParam()); !lack.empty())
    GTEST_SKIP() << lack;
  std::vector<uint8_t> a(bytes), b(bytes), want(bytes), got(bytes);
  for (uint64_t n = 0; n < bytes; n++) {
    a[n] = static_cast<uint8_t>(n >> 8);
    b[n] = static_cast<uint8_t>(n);
    want[n] = a[n] ^ b[n];
  }
  const lanecrypt::DeviceBuffer in = context.on_device(0, bytes),
                                other = context.on_device(0, bytes),
                                out = context.on_device(0, bytes);
  in.fill_from(a.data(), bytes);
  other.fill_from(b.data(), bytes);
  for (const uint32_t times : {1u, 3u}) {
    LANECRYPT_ASSERT_OK(lc_device_xor(context.get(), 0, in.address(), other.address(),
                                      out.address(), bytes, times));
    out.read_to(got.data(), bytes);
    EXPECT_TRUE(got == want) << times << " times";
  }
}

TEST_P(GlXor, IsExactForEveryPairOfBytes) { check(3 * 65536 + 16); }

// Textures of 1,024 rows hold 4 MiB, or by integers 16 MiB.
TEST_P(GlXor, GoesOnWhereTexturesEnd) {
  const ScopedEnvironment small("LANECRYPT_GL_FAULT", "texture-side:1024");
  check((std::strchr(GetParam(), 'x') == GetParam() ? 4 << 20 : 16 << 20) + 4816);
}

INSTANTIATE_TEST_SUITE_P(, GlXor,
                         testing::Values("xor=table8", "xor=table4", "xor=raster",
                                         "shaders=fragment"),
                         [](const testing::TestParamInfo<const char *> &one) {
                           return std::string(std::strchr(one.param, '=') + 1);
                         });

// If the driver tells it, as NVIDIA's does, every fragment ran somewhere.
TEST(GlPlaces, AreThoseOfTheChip) {
  const ScopedEnvironment setting("LANECRYPT_GL", "xor=raster");
  lanecrypt::Context context("gl", LC_FALLBACK_CPU);
  uint32_t count = 0;
  if (lc_device_count(context.get(), &count) != LC_OK)
    GTEST_SKIP() << "there is no EGL here, or it has no device";
  if (lc_device_test(context.get(), 0) == LC_ERROR_NO_DEVICE) GTEST_SKIP() << lc_last_error();
  std::vector<uint32_t> places(4 << 16);
  const uint64_t bytes = places.size() * sizeof places[0];
  const lanecrypt::DeviceBuffer out = context.on_device(0, bytes);
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_device_fragment_places(context.get(), 0, nullptr, 16));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_device_fragment_places(context.get(), 0, out.address(), 24));
  const lc_status status = lc_device_fragment_places(context.get(), 0, out.address(), bytes);
  if (status == LC_ERROR_UNSUPPORTED) GTEST_SKIP() << lc_last_error();
  LANECRYPT_ASSERT_OK(status);
  out.read_to(places.data(), bytes);
  for (size_t n = 0; n < places.size(); n += 4) {
    ASSERT_EQ(places[1], places[n + 1]) << "fragment " << n / 4;
    ASSERT_LT(places[n], places[1]) << "fragment " << n / 4;
  }
}

TEST(GlDraws, RefuseWhatTheyCannotDo) {
  lanecrypt::Context context("host", LC_FALLBACK_NONE);
  const lanecrypt::DeviceBuffer a = context.on_device(0, 64), b = context.on_device(0, 64),
                                out = context.on_device(0, 64);
  const auto run = [&](void *to, uint64_t bytes, uint32_t times) {
    return lc_device_xor(context.get(), 0, a.address(), b.address(), to, bytes, times);
  };
  EXPECT_EQ(LC_ERROR_ARGUMENT, run(nullptr, 64, 1));
  EXPECT_EQ(LC_ERROR_ARGUMENT, run(a.address(), 64, 1));
  EXPECT_EQ(LC_ERROR_ARGUMENT, run(out.address(), 24, 1));
  EXPECT_EQ(LC_ERROR_ARGUMENT, run(out.address(), 64, 2));
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, run(out.address(), 64, 1));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "no fragment shaders")) << lc_last_error();
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, lc_device_fragment_places(context.get(), 0, out.address(), 64));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "no fragments that tell")) << lc_last_error();
}

std::vector<std::string> ways() {
  std::vector<std::string> all;
  for (const char *xor_by : {"table8", "table4", "raster"})
    for (const char *gather : {"multi", "hgather", "sgather"})
      for (const char *round : {"rot", "norot"})
        all.push_back(std::string("xor=") + xor_by + ",gather=" + gather + ",round=" + round);
  return all;
}

std::string way_name(const testing::TestParamInfo<std::string> &one) {
  std::string name = one.param;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(, GlWays, testing::ValuesIn(ways()), way_name);
INSTANTIATE_TEST_SUITE_P(, GlRows,
                         testing::Values("xor=table4,gather=multi", "xor=raster,gather=hgather",
                                         "xor=table8,gather=sgather"),
                         way_name);

}  // namespace
}  // namespace lanecrypt::test
