// The OpenGL device of the papers of 2007: its results must be exact in each of its modes.
//
// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/gl2007.h"

#include <gtest/gtest.h>

#include "lanecrypt/lanecrypt.hpp"
#include "unit/support/batch.h"

namespace lanecrypt::bench::gl2007 {
namespace {

using test::Batch;
using test::BatchShape;

constexpr Xor kXors[] = {Xor::kInteger, Xor::kTable8, Xor::kTable4, Xor::kRaster};

std::string name_of(const testing::TestParamInfo<Way> &one) {
  static constexpr const char *kXorNames[] = {"integer", "table8", "table4", "raster"};
  static constexpr const char *kGatherNames[] = {"multi", "hgather", "sgather"};
  return std::string(kXorNames[static_cast<int>(one.param.xor_by)]) + "_" +
         kGatherNames[static_cast<int>(one.param.gather)] + (one.param.rotates ? "_rot" : "_norot");
}

Context open(const Way &way) {
  lc_context *context = nullptr;
  check(lc_gl2007_open("gl:0", &way, &context));
  return Context::adopt(context);
}

// Opens the first OpenGL device. Skips the test if there is none, or if it lacks desktop OpenGL,
// which has the XOR of raster units.
class Gl2007 : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    uint32_t count = 0;
    if (lc_device_count(context_.get(), &count) != LC_OK)
      GTEST_SKIP() << "there is no EGL here, or it has no device";
    const lc_status status = lc_device_test(context_.get(), 0);
    if (status == LC_ERROR_NO_DEVICE && GetParam().xor_by == Xor::kRaster)
      GTEST_SKIP() << lc_last_error();
    ASSERT_EQ(LC_OK, status) << lc_last_error();
  }

  void expect_right(const BatchShape &shape) {
    Batch batch(context_.get(), shape, random_);
    const uint64_t before = context_.counters(0).bytes;
    const lc_cipher_job job = batch.job();
    ASSERT_EQ(LC_OK, lc_run(context_.get(), &job, nullptr)) << lc_last_error();
    EXPECT_EQ("", batch.check());
    EXPECT_EQ(batch.bytes(), context_.counters(0).bytes - before);
  }

  void expect_right_xor(uint64_t bytes) {
    std::vector<uint8_t> a(bytes), b(bytes), want(bytes), got(bytes);
    for (uint64_t n = 0; n < bytes; n++) {
      a[n] = static_cast<uint8_t>(n >> 8);
      b[n] = static_cast<uint8_t>(n);
      want[n] = a[n] ^ b[n];
    }
    const DeviceBuffer in = context_.on_device(0, bytes), other = context_.on_device(0, bytes),
                       out = context_.on_device(0, bytes);
    in.fill_from(a.data(), bytes);
    other.fill_from(b.data(), bytes);
    for (const uint32_t times : {1u, 3u}) {
      check(lc_gl2007_xor(context_.get(), in.address(), other.address(), out.address(), bytes,
                          times));
      out.read_to(got.data(), bytes);
      EXPECT_TRUE(got == want) << times << " times";
    }
  }

  test::Random random_{77};
  Context context_ = open(GetParam());
};

// A quarter of a MiB of random text XORs every pair of bytes about a hundred times.
class Gl2007Ways : public Gl2007 {};

TEST_P(Gl2007Ways, EncryptEveryByteRight) {
  for (const uint32_t key_bytes : {16u, 24u, 32u}) {
    SCOPED_TRACE(key_bytes);
    BatchShape shape;
    shape.key_bytes = key_bytes;
    shape.messages = {{.length = 16, .in_alignment = 3, .out_alignment = 1},
                      {.length = 4096, .key = 1},
                      {.length = key_bytes == 16 ? 1u << 18 : 70000, .key = 2},
                      {.length = 4112, .in_place = true, .key = 2}};
    expect_right(shape);
  }
}

std::vector<Way> all_ways() {
  std::vector<Way> all = {Way{}};
  for (const Xor xor_by : {Xor::kTable8, Xor::kTable4, Xor::kRaster})
    for (const Gather gather : {Gather::kMulti, Gather::kRow, Gather::kSquare})
      for (const bool rotates : {true, false}) all.push_back({xor_by, gather, rotates});
  return all;
}

INSTANTIATE_TEST_SUITE_P(, Gl2007Ways, testing::ValuesIn(all_ways()), name_of);

class Gl2007Counters : public Gl2007 {};

TEST_P(Gl2007Counters, EncryptEveryByteRight) {
  for (const uint32_t key_bytes : {16u, 24u, 32u}) {
    SCOPED_TRACE(key_bytes);
    BatchShape shape;
    shape.cipher = LC_AES_CTR;
    shape.key_bytes = key_bytes;
    shape.messages = {{.length = 1, .in_alignment = 3, .out_alignment = 1},
                      {.length = 4099, .in_alignment = 4, .key = 1},
                      {.length = 70001, .in_place = true, .key = 2}};
    expect_right(shape);
  }
}

INSTANTIATE_TEST_SUITE_P(, Gl2007Counters, testing::Values(Way{}), name_of);

// Textures of 1,024 rows hold 4 MiB of columns, 2 MiB of columns two by two, and 16 MiB of
// integers. Longer texts take several passes.
constexpr uint32_t kSmallSide = 1024;

class Gl2007Rows : public Gl2007 {};

TEST_P(Gl2007Rows, GoOnWhereTexturesEnd) {
  BatchShape shape;
  shape.data_memory = test::DataMemory::kDevice;  // in one launch
  const bool is_integer = GetParam().xor_by == Xor::kInteger;
  if (is_integer) shape.cipher = LC_AES_CTR;
  const uint64_t most = is_integer                             ? 16 << 20
                        : GetParam().gather == Gather::kSquare ? 2 << 20
                                                               : 4 << 20;
  shape.messages = {{.length = 48}, {.length = most + 4800}, {.length = 1600}};
  expect_right(shape);
}

INSTANTIATE_TEST_SUITE_P(, Gl2007Rows,
                         testing::Values(Way{.most_texture_side = kSmallSide},
                                         Way{Xor::kTable4, Gather::kMulti, true, kSmallSide},
                                         Way{Xor::kRaster, Gather::kRow, true, kSmallSide},
                                         Way{Xor::kTable8, Gather::kSquare, true, kSmallSide}),
                         name_of);

std::vector<Way> xors(uint32_t most_texture_side) {
  std::vector<Way> all;
  for (const Xor xor_by : kXors)
    all.push_back({.xor_by = xor_by, .most_texture_side = most_texture_side});
  return all;
}

class Gl2007Xor : public Gl2007 {};

TEST_P(Gl2007Xor, IsExactForEveryPairOfBytes) { expect_right_xor(3 * 65536 + 16); }

INSTANTIATE_TEST_SUITE_P(, Gl2007Xor, testing::ValuesIn(xors(UINT32_MAX)), name_of);

class Gl2007LargeXor : public Gl2007 {};

TEST_P(Gl2007LargeXor, GoesOnWhereTexturesEnd) {
  expect_right_xor((GetParam().xor_by == Xor::kInteger ? 16 << 20 : 4 << 20) + 4816);
}

INSTANTIATE_TEST_SUITE_P(, Gl2007LargeXor, testing::ValuesIn(xors(kSmallSide)), name_of);

// If the driver reports it, as NVIDIA's does, every fragment ran somewhere.
class Gl2007Places : public Gl2007 {};

TEST_P(Gl2007Places, AreThoseOfTheChip) {
  std::vector<uint32_t> places(4 << 16);
  const uint64_t bytes = places.size() * sizeof places[0];
  const DeviceBuffer out = context_.on_device(0, bytes);
  const lc_status status = lc_gl2007_places(context_.get(), out.address(), bytes);
  if (status == LC_ERROR_UNSUPPORTED) GTEST_SKIP() << lc_last_error();
  ASSERT_EQ(LC_OK, status) << lc_last_error();
  out.read_to(places.data(), bytes);
  for (size_t n = 0; n < places.size(); n += 4) {
    ASSERT_EQ(places[1], places[n + 1]) << "fragment " << n / 4;
    ASSERT_LT(places[n], places[1]) << "fragment " << n / 4;
  }
}

INSTANTIATE_TEST_SUITE_P(, Gl2007Places, testing::Values(Way{.xor_by = Xor::kRaster}), name_of);

}  // namespace
}  // namespace lanecrypt::bench::gl2007
