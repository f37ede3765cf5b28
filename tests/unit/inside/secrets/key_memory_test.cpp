// Memory for keys: blocks that share pages, and blocks with their own pages. No device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "secure/key_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/test_scale.h"
#include "unit/support/mapping_flags.h"

namespace lanecrypt::test {
namespace {

using secure::KeyMemory;

// Sizes for each kind of block: shared pages of each size, and own pages.
constexpr size_t kSizes[] = {1, 64, 65, 500, 512, 513, 2048, 8192, 8193, 100000};

bool is_all(const KeyMemory &memory, uint8_t value) {
  return std::all_of(memory.data(), memory.data() + memory.size(),
                     [&](uint8_t byte) { return byte == value; });
}

// Runs `body` in a child of fork. It returns an error text, which must be empty.
template <typename Body>
void in_child(const Body &body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(40);
    _exit(body());
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

TEST(KeyMemory, IsZeroedThoughItWasUsed) {
  for (const size_t bytes : kSizes) {
    for (int round = 0; round < 200; ++round) {
      KeyMemory memory(bytes);
      ASSERT_TRUE(memory.ok(bytes));
      ASSERT_EQ(bytes, memory.size());
      ASSERT_TRUE(is_all(memory, 0)) << bytes << " bytes, round " << round;
      std::memset(memory.data(), 0xa5, bytes);
    }
  }
}

TEST(KeyMemory, IsNobodyElses) {
  // More blocks than a slab of each size holds.
  std::vector<KeyMemory> all;
  for (int n = 0; n < 150; ++n)
    for (const size_t bytes : kSizes) {
      all.emplace_back(bytes);
      std::memset(all.back().data(), n, bytes);
    }
  for (size_t n = 0; n < all.size(); ++n)
    ASSERT_TRUE(is_all(all[n], uint8_t(n / std::size(kSizes)))) << n;
}

// As many blocks as a server with many connections has. The slabs grow, and a block that is freed
// in the middle is reused.
TEST(KeyMemory, HasManyShortOnes) {
  constexpr size_t kCount = 30000;
  std::vector<KeyMemory> all;
  for (size_t n = 0; n < kCount; ++n) {
    all.emplace_back(64, KeyMemory::Fork::kKept);
    std::memcpy(all.back().data(), &n, sizeof n);
  }
  for (size_t n = 0; n < kCount; n += 7) all[n] = KeyMemory();
  for (size_t n = 0; n < kCount; n += 7) {
    all[n] = KeyMemory(64, KeyMemory::Fork::kKept);
    ASSERT_TRUE(is_all(all[n], 0)) << n;
    std::memcpy(all[n].data(), &n, sizeof n);
  }
  std::vector<uintptr_t> pages;
  for (size_t n = 0; n < kCount; ++n) {
    size_t mark = 0;
    std::memcpy(&mark, all[n].data(), sizeof mark);
    ASSERT_EQ(n, mark);
    pages.push_back(uintptr_t(all[n].data()) / 4096);
  }
  // None of the blocks has its own page.
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  EXPECT_LE(pages.size(), kCount / 64 + 64);
}

TEST(KeyMemory, NothingIsNoMemory) {
  const KeyMemory nothing(0);
  EXPECT_TRUE(nothing.ok(0));
  EXPECT_FALSE(nothing.ok(1));
}

TEST(KeyMemory, GoesToAnother) {
  KeyMemory first(100);
  first.data()[99] = 7;
  KeyMemory second(std::move(first));
  EXPECT_EQ(7, second.data()[99]);
  KeyMemory third(10000);
  third = std::move(second);
  EXPECT_EQ(100u, third.size());
  EXPECT_EQ(7, third.data()[99]);
}

TEST(KeyMemory, IsGuarded) {
  if (flags_of(kSizes).empty()) GTEST_SKIP() << "the kernel tells no flags of mappings";
  for (const size_t bytes : kSizes) {
    const KeyMemory memory(bytes), kept(bytes, KeyMemory::Fork::kKept);
    // The pages are excluded from core dumps ("dd") and zeroed in a child of fork ("wf"). They are
    // locked only if the limit allows that.
    EXPECT_NE(std::string::npos, flags_of(memory.data()).find(" dd ")) << bytes;
    EXPECT_NE(std::string::npos, flags_of(memory.data()).find(" wf ")) << bytes;
    EXPECT_NE(std::string::npos, flags_of(kept.data()).find(" dd ")) << bytes;
    EXPECT_EQ(std::string::npos, flags_of(kept.data()).find(" wf ")) << bytes;
  }
}

TEST(KeyMemory, IsEmptyInAChild) {
  for (const size_t bytes : kSizes) {
    KeyMemory memory(bytes), kept(bytes, KeyMemory::Fork::kKept);
    std::memset(memory.data(), 1, bytes);
    std::memset(kept.data(), 2, bytes);
    in_child([&] { return is_all(memory, 0) && is_all(kept, 2) ? 0 : 1; });
    EXPECT_TRUE(is_all(memory, 1));
  }
}

// Two threads allocate and free blocks all the time. No thread may get a block that another one
// has, and a child must not wait for the threads.
TEST(KeyMemory, ServesThreadsAndChildren) {
  std::atomic<bool> ends = false, is_wrong = false;
  const auto work = [&](uint8_t mark) {
    do {
      KeyMemory a(300), b(300), c(2000);
      for (KeyMemory *memory : {&a, &b, &c}) {
        if (!is_all(*memory, 0)) is_wrong = true;
        std::memset(memory->data(), mark, memory->size());
      }
      for (KeyMemory *memory : {&a, &b, &c})
        if (!is_all(*memory, mark)) is_wrong = true;
    } while (!ends && mark != 3);
  };
  std::thread first([&] { work(1); }), second([&] { work(2); });
  for (int child = 0; child < int(scaled(40)); ++child)
    in_child([&] {
      for (int n = 0; n < 50; ++n) work(3);
      return is_wrong ? 1 : 0;
    });
  ends = true;
  first.join();
  second.join();
  EXPECT_FALSE(is_wrong);
}

}  // namespace
}  // namespace lanecrypt::test
