// Worker threads that share work with the caller.
//
// SPDX-License-Identifier: Apache-2.0
#include "thread/workers.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <future>

namespace lanecrypt::runtime {
namespace {

TEST(Workers, ShareEachPartOnce) {
  Workers workers(3);
  for (const size_t count : {0, 1, 2, 3, 7, 1000}) {
    std::vector<std::atomic<int>> times(count);
    workers.share(count, [&](size_t n) { ++times[n]; });
    for (const std::atomic<int> &time : times) EXPECT_EQ(1, time);
  }
}

// Each part waits for the other.
TEST(Workers, SharePartsWithTheCaller) {
  Workers workers(1);
  std::promise<void> here[2];
  workers.share(2, [&](size_t n) {
    here[n].set_value();
    here[1 - n].get_future().wait();
  });
}

TEST(Workers, LeaveAllToTheCallerWhileTheyAreBusy) {
  Workers workers(2);
  std::promise<void> free;
  const std::shared_future<void> is_free = free.get_future().share();
  std::promise<void> all_over;
  workers.give(
      2, [is_free](size_t) { is_free.wait(); }, [&] { all_over.set_value(); });
  std::atomic<int> parts = 0;
  workers.share(5, [&](size_t) {
    EXPECT_EQ(std::future_status::timeout, is_free.wait_for(std::chrono::seconds(0)));
    ++parts;
  });
  EXPECT_EQ(5, parts);
  free.set_value();
  all_over.get_future().wait();
}

// They block signals, because an application's thread may start them.
TEST(Workers, AreSentNoSignals) {
  Workers workers(1);
  std::promise<bool> is_blocked;
  workers.give([&] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    is_blocked.set_value(sigismember(&mask, SIGUSR1) == 1);
  });
  EXPECT_TRUE(is_blocked.get_future().get());
}

}  // namespace
}  // namespace lanecrypt::runtime
