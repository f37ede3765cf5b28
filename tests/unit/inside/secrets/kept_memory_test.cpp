// Large jobs keep their memory for the next job: it is found again, and its amount is bounded. No
// device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "job/kept_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>

namespace lanecrypt {
namespace {

constexpr size_t kMiB = 1 << 20;

class KeptMemory : public testing::Test {
 protected:
  void SetUp() override { free_kept(); }
  void TearDown() override { free_kept(); }
};

TEST_F(KeptMemory, IsFoundAgainByWhatItIsLargeEnoughFor) {
  void *const first = take_kept(2 * kMiB);
  EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(first) % alignof(std::max_align_t));
  std::memset(first, 1, 2 * kMiB);
  give_kept(first);
  void *const larger = take_kept(3 * kMiB);
  EXPECT_NE(first, larger);
  void *const second = take_kept(kMiB);
  EXPECT_EQ(first, second);
  std::memset(second, 2, kMiB);
  give_kept(second);
  give_kept(larger);
  // The larger block keeps its full size.
  std::set<void *> both = {take_kept(2 * kMiB), take_kept(2 * kMiB)};
  EXPECT_EQ((std::set<void *>{first, larger}), both);
  for (void *const block : both) give_kept(block);
}

TEST_F(KeptMemory, IsNoneOfWhatIsShortOrVeryLong) {
  for (const size_t bytes : {kLeastKeptBytes - 1, kMostKeptBytes + 1, size_t{0}}) {
    give_kept(take_kept(bytes));
    EXPECT_EQ(0u, count_kept()) << bytes;
  }
  for (const size_t bytes : {kLeastKeptBytes, kMostKeptBytes}) give_kept(take_kept(bytes));
  EXPECT_EQ(2u, count_kept());
}

// Otherwise a process with growing jobs would keep memory that is of no further use.
TEST_F(KeptMemory, IsTheLastWhereTooMuchIsGiven) {
  std::vector<void *> blocks;
  for (size_t n = 0; n < kMostKeptBlocks + 1; ++n) blocks.push_back(take_kept((n + 1) * kMiB));
  for (void *const block : blocks) give_kept(block);
  EXPECT_EQ(kMostKeptBlocks, count_kept());
  void *const last = take_kept((kMostKeptBlocks + 1) * kMiB);
  EXPECT_EQ(blocks.back(), last);
  give_kept(last);
}

TEST_F(KeptMemory, BelongsToOneThreadAtATime) {
  const auto work = [](unsigned char mark) {
    for (int n = 0; n < 300; ++n) {
      KeptVector<unsigned char> bytes(kLeastKeptBytes);
      bytes.front() = bytes.back() = mark;
      std::this_thread::yield();
      if (bytes.front() != mark || bytes.back() != mark) return false;
    }
    return true;
  };
  bool rights[3] = {};
  std::thread other([&] { rights[1] = work(1); }), third([&] { rights[2] = work(2); });
  rights[0] = work(0);
  other.join();
  third.join();
  for (const bool right : rights) EXPECT_TRUE(right);
}

}  // namespace
}  // namespace lanecrypt
