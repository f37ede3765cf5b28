// What the library reports about devices, on every device, and how devices are selected.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <set>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

lc_status count_devices(const Context &context, uint32_t *count) {
  return lc_device_count(context.get(), count);
}

class DeviceInfo : public DeviceTest {};

TEST_P(DeviceInfo, IsSound) {
  Context context(GetParam().id.c_str(), LC_FALLBACK_NONE);
  lc_device_info before = context.device(0);
  EXPECT_EQ(LC_DEVICE_UNTRIED, before.state);
  EXPECT_STREQ("", before.reason);
  EXPECT_EQ(1, before.selected);
  EXPECT_EQ(GetParam().id, before.id);
  EXPECT_EQ(GetParam().id.substr(0, GetParam().id.find(':')), before.api);
  EXPECT_STRNE("", before.name);
  EXPECT_STRNE("", before.driver);
  EXPECT_GT(before.compute_units, 0u);
  EXPECT_TRUE(before.is_gpu == 0 || before.memory_bytes > 0 || GetParam().is_gl());
  EXPECT_TRUE(before.is_gpu == 0 || before.is_gpu == 1);
  const std::string pci = before.pci_address;
  EXPECT_TRUE(pci.empty() || (pci.size() >= 12 && pci.ends_with(".0"))) << pci;
  EXPECT_TRUE(before.api != std::string("cuda") || !pci.empty());

  LANECRYPT_ASSERT_OK(lc_device_test(context.get(), 0));
  EXPECT_EQ(LC_DEVICE_READY, context.device(0).state);
  EXPECT_TRUE(context.device(0).memory_bytes > 0 || before.api == std::string("host"));
  lc_counters counters = context.counters(0);
  EXPECT_EQ(0u, counters.jobs) << "self-tests are not counted";
  EXPECT_EQ(0u, counters.bytes);
  EXPECT_EQ(0u, counters.failures);
}

TEST_P(DeviceInfo, IsTestedThoughNotSelected) {
  // The library looks for all devices, since no list names them, but selects only GPUs.
  const ScopedEnvironment unset("LANECRYPT_DEVICES", nullptr);
  Context context(nullptr, LC_FALLBACK_NONE);
  uint32_t count = 0;
  LANECRYPT_ASSERT_OK(count_devices(context, &count));
  for (uint32_t index = 0; index < count; index++) {
    if (GetParam().id != context.device(index).id) continue;
    if (GetParam().is_gpu) GTEST_SKIP() << "every GPU is selected where no list says which";
    EXPECT_EQ(0, context.device(index).selected);
    LANECRYPT_ASSERT_OK(lc_device_test(context.get(), index));
    EXPECT_EQ(LC_DEVICE_READY, context.device(index).state);
    // A job that names the device uses it.
    BatchShape shape;
    shape.messages = {{.length = 1600}};
    Random random(1);
    Batch batch(nullptr, shape, random);
    lc_cipher_job job = batch.job();
    job.device = index;
    job.has_device = 1;
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    EXPECT_EQ("", batch.check());
    EXPECT_EQ(1600u, context.counters(index).bytes);
    return;
  }
  FAIL() << GetParam().id << " is not listed";
}

TEST_P(DeviceInfo, PinnedMemoryIsZeroedAndAligned) {
  void *memory = nullptr;
  LANECRYPT_ASSERT_OK(lc_alloc_pinned(context(), 12345, &memory));
  EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(memory) % 4096);
  const uint8_t *bytes = static_cast<uint8_t *>(memory);
  EXPECT_EQ(Bytes(12345), Bytes(bytes, bytes + 12345));
  lc_free_pinned(context(), memory);
  lc_free_pinned(context(), nullptr);
}

TEST_P(DeviceInfo, DeviceMemoryCopiesBothWays) {
  void *memory = nullptr;
  LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, 100001, &memory));
  EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(memory) % 256);
  Bytes sent(100001), received(100001);
  Random random(2);
  random.fill(sent.data(), sent.size());
  LANECRYPT_ASSERT_OK(lc_copy_to_device(context(), 0, memory, sent.data(), sent.size()));
  LANECRYPT_ASSERT_OK(lc_copy_from_device(context(), 0, received.data(), memory, received.size()));
  EXPECT_EQ(sent, received);
  // Copies from the middle of the buffer.
  uint8_t *middle = static_cast<uint8_t *>(memory) + 777;
  LANECRYPT_ASSERT_OK(lc_copy_from_device(context(), 0, received.data(), middle, 13));
  EXPECT_EQ(Bytes(sent.begin() + 777, sent.begin() + 790),
            Bytes(received.begin(), received.begin() + 13));
  LANECRYPT_ASSERT_OK(lc_free_device(context(), 0, memory));
}

INSTANTIATE_TEST_SUITE_P(, DeviceInfo, testing::ValuesIn(devices_under_test()), device_case_name);

TEST(DeviceList, HasEachDeviceOnceAndTheEmulator) {
  ScopedEnvironment unset("LANECRYPT_DEVICES", nullptr);
  Context context(nullptr, LC_FALLBACK_NONE);
  uint32_t count = 0;
  LANECRYPT_ASSERT_OK(count_devices(context, &count));
  std::set<std::string> ids;
  for (uint32_t index = 0; index < count; index++)
    EXPECT_TRUE(ids.insert(context.device(index).id).second) << context.device(index).id;
  EXPECT_TRUE(ids.count("host:0"));
}

// The library does not even call the other APIs.
TEST(DeviceList, HasTheApisThatAreNamed) {
  Context none("none", LC_FALLBACK_CPU), host("host", LC_FALLBACK_CPU);
  uint32_t count = 1;
  LANECRYPT_ASSERT_OK(count_devices(none, &count));
  EXPECT_EQ(0u, count);
  LANECRYPT_ASSERT_OK(count_devices(host, &count));
  EXPECT_EQ(1u, count);
}

TEST(DeviceList, ByDefaultSelectsGpusOnly) {
  ScopedEnvironment unset("LANECRYPT_DEVICES", nullptr);
  Context context(nullptr, LC_FALLBACK_CPU);
  uint32_t count = 0;
  LANECRYPT_ASSERT_OK(count_devices(context, &count));
  for (uint32_t index = 0; index < count; index++)
    EXPECT_TRUE(context.device(index).is_gpu || !context.device(index).selected)
        << context.device(index).id << " is no GPU";
}

TEST(DeviceList, IsInTheOrderAskedFor) {
  std::vector<std::string> present;
  for (const DeviceCase &device : devices_under_test())
    if (!device.absent) present.push_back(device.id);
  std::reverse(present.begin(), present.end());
  std::string list;
  for (const std::string &id : present) list += (list.empty() ? "" : ",") + id;
  Context context(list.c_str(), LC_FALLBACK_NONE);
  for (uint32_t index = 0; index < present.size(); index++)
    EXPECT_EQ(present[index], context.device(index).id);
}

TEST(DeviceList, ComesFromTheEnvironmentWhereOptionsSayNothing) {
  ScopedEnvironment host("LANECRYPT_DEVICES", "host:0");
  Context environment(nullptr, LC_FALLBACK_NONE);
  EXPECT_STREQ("host:0", environment.device(0).id);
  EXPECT_EQ(1, environment.device(0).selected);
  Context options("none", LC_FALLBACK_NONE);
  uint32_t count = 1;
  LANECRYPT_ASSERT_OK(count_devices(options, &count));
  EXPECT_EQ(0u, count) << "options come before the environment";
}

// The first call that needs a device reports that it is missing; lc_open() does not.
TEST(DeviceList, NamesWhatIsNotHere) {
  Context context("host:9", LC_FALLBACK_NONE);
  uint32_t count = 0;
  EXPECT_EQ(LC_ERROR_NO_DEVICE, count_devices(context, &count));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "host:9")) << lc_last_error();
}

TEST(DeviceList, NoneSendsAllToTheCpuOrNowhere) {
  BatchShape shape;
  shape.cipher = LC_AES_CBC;
  shape.messages = {{.length = 3200, .in_place = true}, {.length = 32}};
  Random random(4);
  for (lc_fallback fallback : {LC_FALLBACK_CPU, LC_FALLBACK_NONE}) {
    Context context("none", fallback);
    Batch batch(nullptr, shape, random);
    lc_cipher_job job = batch.job();
    if (fallback == LC_FALLBACK_NONE) {
      EXPECT_EQ(LC_ERROR_NO_DEVICE, lc_run(context.get(), &job, nullptr));
      EXPECT_STRNE("", lc_last_error());
      EXPECT_EQ("", batch.check_pieces_or_untouched());
      continue;
    }
    lc_result result{};
    result.struct_size = sizeof result;
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, &result));
    EXPECT_EQ("", batch.check());
    EXPECT_EQ(batch.bytes(), result.cpu_bytes);
    EXPECT_EQ(0u, result.device_bytes);
    lc_counters cpu = context.counters(LC_CPU);
    EXPECT_EQ(1u, cpu.jobs);
    EXPECT_EQ(batch.bytes(), cpu.bytes);
    EXPECT_EQ(0u, cpu.launches);
  }
}

// Compares the library's CPU code with OpenSSL, called in another way.
TEST(DeviceList, TheCpuIsRight) {
  Context context("none", LC_FALLBACK_CPU);
  Random random(5);
  uint64_t bytes = 0;
  for (uint64_t n = scaled(200); n > 0; n--) {
    BatchShape shape = random_shape(random, 20, 3000);
    if (shape.data_memory == DataMemory::kDevice) shape.data_memory = DataMemory::kPinned;
    Batch batch(context.get(), shape, random);
    lc_cipher_job job = batch.job();
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
    ASSERT_EQ("", batch.check()) << batch.shape().name();
    bytes += batch.bytes();
  }
  EXPECT_EQ(bytes, context.counters(LC_CPU).bytes);
}

TEST(DeviceList, FormsAreNamedRight) {
  ScopedEnvironment form("LANECRYPT_AES_FORM", "table3");
  Context context("host", LC_FALLBACK_NONE);
  EXPECT_NE(LC_OK, lc_device_test(context.get(), 0));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "table3")) << lc_last_error();
}

TEST(DeviceList, GridsAreNamedRight) {
  for (const char *wrong : {"132", "0x64", "4x0", "4x64x2", "4x100000", "x", "70000x32", "4x-32"}) {
    const ScopedEnvironment grid("LANECRYPT_AES_GRID", wrong);
    Context context("host", LC_FALLBACK_NONE);
    EXPECT_NE(LC_OK, lc_device_test(context.get(), 0)) << wrong;
    EXPECT_NE(nullptr, std::strstr(lc_last_error(), "thread blocks x threads")) << lc_last_error();
  }
  const ScopedEnvironment grid("LANECRYPT_AES_GRID", "3x1");
  Context context("host", LC_FALLBACK_NONE);
  LANECRYPT_ASSERT_OK(lc_device_test(context.get(), 0));
}

}  // namespace
}  // namespace lanecrypt::test
