// Tests the module as a file. It contains no libcrypto, and can be loaded and unloaded.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <link.h>
#include <malloc.h>

#include <cstring>
#include <thread>
#include <vector>

#include "provider/provider_under_test.h"

namespace provider_test {
namespace {

int count_libcrypto(dl_phdr_info *info, size_t, void *count) {
  if (info->dlpi_name != nullptr && std::strstr(info->dlpi_name, "libcrypto") != nullptr)
    ++*static_cast<int *>(count);
  return 0;
}

TEST(Load, BringsNoSecondLibcrypto) {
  Library library({{"devices", "host"}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  // This has also bound the library's own CPU code.
  Library without({{"devices", "none"}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(without.is_ready()) << without.errors();
  for (Library *each : {&library, &without}) {
    Twins twins(*each, "AES-128-CTR");
    const uint8_t key[16] = {}, iv[16] = {};
    twins.init(key, iv, 1);
    twins.update(Bytes(1000), Twins::Aliasing::kApart, 0);
    EXPECT_TRUE(twins.is_whole()) << twins.difference();
  }
  int count = 0;
  dl_iterate_phdr(count_libcrypto, &count);
  EXPECT_EQ(count, 1);
}

TEST(Load, ComesAndGoes) {
  for (int time = 0; time < 5; ++time) {
    Library library({{"devices", "host"}, {"threshold_bytes", "16"}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    Twins twins(library, "AES-256-CBC");
    const uint8_t key[32] = {}, iv[16] = {};
    twins.init(key, iv, 0);
    twins.update(Bytes(1000), Twins::Aliasing::kApart, 0);
    ASSERT_TRUE(twins.is_whole()) << twins.difference();
    EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
  }
}

// No memory is left behind that would accumulate.
TEST(Load, ComesAndGoesAThousandTimes) {
  [[maybe_unused]] uint64_t early = 0;
  for (int time = 0; time < 1000; ++time) {
    if (time == 200) early = mallinfo2().uordblks;
    // Opening a device takes much longer than the rest.
    const bool has_device = time % 100 == 50;
    Library library({{"devices", has_device ? "host" : "none"}, {"threshold_bytes", "0"}});
    ASSERT_TRUE(library.is_ready()) << time << ": " << library.errors();
    if (time % 50 != 0) continue;
    Twins twins(library, "AES-128-CTR");
    const uint8_t key[16] = {}, iv[16] = {};
    twins.init(key, iv, 1);
    twins.update(Bytes(1000), Twins::Aliasing::kApart, 0);
    ASSERT_TRUE(twins.is_whole()) << twins.difference();
    EXPECT_EQ(library.counter("lanecrypt.device-jobs"), has_device ? 1u : 0u);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(mallinfo2().uordblks, early + (2 << 20));
#endif
}

TEST(Load, OnManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([] {
      for (int time = 0; time < 2; ++time) {
        Library library({{"devices", "host"}, {"threshold_bytes", "16"}});
        ASSERT_TRUE(library.is_ready()) << library.errors();
        Twins twins(library, "AES-128-ECB");
        const uint8_t key[16] = {};
        twins.init(key, nullptr, 1);
        twins.update(Bytes(100), Twins::Aliasing::kApart, 0);
        ASSERT_TRUE(twins.is_whole()) << twins.difference();
      }
    });
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace provider_test
