// A device is opened once in a process, and its kernels are loaded in sets. Runs on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/open_once.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "device/device.h"

namespace lanecrypt::device {
namespace {

class OpenOnceTest : public testing::Test {
 protected:
  std::shared_ptr<int> get(int key) {
    const auto open = [this]() -> Result<std::shared_ptr<int>> {
      return std::make_shared<int>(++opened_);
    };
    Result<std::shared_ptr<int>> got = all_.get(key, open);
    return got.ok() ? *got : nullptr;
  }

  static inline constinit OpenOnce<int, int> all_;
  int opened_ = 0;
};

TEST_F(OpenOnceTest, SharesWhatIsOpen) {
  auto one = get(1), two = get(1);
  const auto other = get(2);
  EXPECT_EQ(one, two);
  EXPECT_NE(one, other);
  EXPECT_EQ(2, opened_);
  one.reset();
  EXPECT_EQ(two, get(1));
  two.reset();
  EXPECT_EQ(3, *get(1));
}

TEST_F(OpenOnceTest, ThreadsWaitForTheOneThatOpens) {
  std::vector<std::shared_ptr<int>> got(8);
  std::vector<std::thread> threads;
  for (std::shared_ptr<int> &mine : got) threads.emplace_back([&] { mine = get(1); });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(1, opened_);
  for (const std::shared_ptr<int> &mine : got) EXPECT_EQ(got[0], mine);
}

TEST_F(OpenOnceTest, KeepsNoFailure) {
  const auto fails = []() -> Result<std::shared_ptr<int>> {
    return Status(LC_ERROR_DEVICE, "not now");
  };
  EXPECT_EQ(LC_ERROR_DEVICE, all_.get(1, fails).status().code());
  EXPECT_NE(nullptr, get(1));
}

TEST_F(OpenOnceTest, AChildOfForkOpensItsOwn) {
  const auto one = get(1);
  const pid_t child = fork();
  if (child == 0) _exit(get(1) != one && opened_ == 2 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(one, get(1));
}

TEST(KernelSets, KernelsBelongToOneByTheirNames) {
  EXPECT_EQ(KernelSet::kRsa, set_of_kernel("rsa_u32_thread_per_number_39_power_all"));
  EXPECT_EQ(KernelSet::kRsa, set_of_kernel("prime_sieve"));
  EXPECT_EQ(KernelSet::kCiphers, set_of_kernel("aes_table4_ctr"));
  EXPECT_EQ(KernelSet::kCiphers, set_of_kernel("primes"));
  for (const KernelSetRow &row : kKernelSets) EXPECT_EQ(&row, &row_of(row.set));
}

}  // namespace
}  // namespace lanecrypt::device
