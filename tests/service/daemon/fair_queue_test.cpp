// Tests the fair queue, with items that do nothing.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/fair_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

namespace lanecrypt::service::daemon {
namespace {

struct Thing : Waiting {
  explicit Thing(std::string its_name) : name(std::move(its_name)) {}
  std::string name;
};

class FairQueueTest : public testing::Test {
 protected:
  static constexpr size_t kMost = 1000;

  bool add(FairQueue::Client &client, const std::string &name, Clock::time_point since = {}) {
    Thing &thing = things_.emplace_back(name);
    thing.since = since;
    return queue_.add(client, thing, kMost);
  }
  static std::string names(Waiting *chain) {
    std::string all;
    for (; chain != nullptr; chain = chain->next) all += static_cast<Thing *>(chain)->name + " ";
    return all;
  }
  // Takes all items and returns their names.
  std::string take_all() {
    std::string all;
    while (queue_.first() != nullptr) {
      Waiting *const expected = queue_.first();
      Waiting *const taken = queue_.take();
      EXPECT_EQ(expected, taken);
      EXPECT_EQ(nullptr, taken->next);
      all += static_cast<Thing *>(taken)->name + " ";
    }
    EXPECT_EQ(nullptr, queue_.take());
    EXPECT_EQ(0u, queue_.waiting());
    return all;
  }

  FairQueue queue_;
  FairQueue::User alice_, bob_, carol_;
  FairQueue::Client a1_{alice_}, a2_{alice_}, b1_{bob_}, c1_{carol_};
  std::deque<Thing> things_;
};

TEST_F(FairQueueTest, OneClientGetsItsThingsInOrder) {
  for (const char *name : {"1", "2", "3"}) EXPECT_TRUE(add(a1_, name));
  EXPECT_EQ(3u, queue_.waiting());
  EXPECT_EQ("1 2 3 ", take_all());
}

TEST_F(FairQueueTest, ClientsOfAUserTakeTurns) {
  for (const char *name : {"x1", "x2", "x3"}) add(a1_, name);
  for (const char *name : {"y1", "y2"}) add(a2_, name);
  EXPECT_EQ("x1 y1 x2 y2 x3 ", take_all());
}

TEST_F(FairQueueTest, AUserOfManyClientsGetsNoMoreThanAnother) {
  for (const char *name : {"x1", "x2"}) add(a1_, name);
  for (const char *name : {"y1", "y2"}) add(a2_, name);
  for (const char *name : {"b1", "b2", "b3"}) add(b1_, name);
  EXPECT_EQ("x1 b1 y1 b2 x2 b3 y2 ", take_all());
}

// The items of one user take ten times as long as those of the others.
TEST_F(FairQueueTest, AUserIsChargedTheTimeThatItsThingsTook) {
  for (int n = 0; n < 10; ++n) {
    add(a1_, "a");
    add(b1_, "b");
  }
  std::string all;
  for (int n = 0; n < 12; ++n) {
    Waiting *const expected = queue_.first();
    const Thing &taken = *static_cast<Thing *>(queue_.take());
    EXPECT_EQ(expected, &taken);
    all += taken.name;
    if (taken.name == "a")
      queue_.charge(a1_, std::chrono::milliseconds(10));
    else
      queue_.charge(b1_, std::chrono::milliseconds(1));
  }
  EXPECT_EQ("abbbbbbbbbba", all);
  // A user that starts now has only the head start.
  add(c1_, "c1");
  add(c1_, "c2");
  EXPECT_EQ("c1", static_cast<Thing *>(queue_.take())->name);
  queue_.charge(c1_, FairQueue::kHeadStart + std::chrono::milliseconds(11));
  EXPECT_EQ("a", static_cast<Thing *>(queue_.take())->name);
  EXPECT_EQ(8u, queue_.waiting());
}

// Many users have slow items, and a new user waits for one of them at most.
TEST_F(FairQueueTest, SlowThingsOfManyUsersDelayANewOneByOne) {
  std::deque<FairQueue::User> users(20);
  std::deque<FairQueue::Client> clients;
  for (FairQueue::User &user : users) clients.emplace_back(user);
  for (int round = 0; round < 3; ++round)
    for (FairQueue::Client &client : clients) add(client, "slow");
  for (int n = 0; n < 30; ++n) {
    if (n >= 20) {
      add(c1_, "new");
      EXPECT_EQ("new", static_cast<Thing *>(queue_.take())->name) << n;
      queue_.charge(c1_, std::chrono::milliseconds(1));
    }
    ASSERT_EQ("slow", static_cast<Thing *>(queue_.take())->name);
    queue_.charge(clients[size_t(n) % 20], std::chrono::milliseconds(700));
  }
}

TEST_F(FairQueueTest, WhoComesLateWaitsForOneOfEachUser) {
  for (int n = 0; n < 500; ++n) add(a1_, "a");
  for (int n = 0; n < 100; ++n) (void)queue_.take();
  add(b1_, "late");
  (void)queue_.take();
  EXPECT_EQ("late", static_cast<Thing *>(queue_.take())->name);
}

TEST_F(FairQueueTest, WhoWasEmptyComesAgain) {
  add(a1_, "1");
  EXPECT_EQ("1 ", take_all());
  add(a1_, "2");
  add(b1_, "3");
  EXPECT_EQ("2 3 ", take_all());
}

// A user with long operations leaves room for others.
TEST_F(FairQueueTest, AUserHasHalfOfWhatOthersLeave) {
  FairQueue queue(8);
  const auto take = [&] {
    Waiting *const taken = queue.take();
    return taken == nullptr ? std::string() : static_cast<Thing *>(taken)->name;
  };
  const auto wait = [&](FairQueue::Client &client, const std::string &name) {
    return queue.add(client, things_.emplace_back(name), kMost);
  };
  for (int n = 0; n < 10; ++n) EXPECT_TRUE(wait(a1_, "a"));
  for (int n = 0; n < 4; ++n) EXPECT_EQ("a", take());
  EXPECT_EQ(nullptr, queue.first());
  EXPECT_EQ("", take());
  for (int n = 0; n < 4; ++n) EXPECT_TRUE(wait(b1_, "b"));
  for (int n = 0; n < 2; ++n) EXPECT_EQ("b", take());
  EXPECT_EQ("", take());
  EXPECT_TRUE(wait(c1_, "c"));
  EXPECT_EQ("c", take());
  EXPECT_EQ("", take());
  // What ends gives room to its own user and to others.
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ("", take());
    queue.end(a1_);
  }
  EXPECT_EQ("a", take());
  EXPECT_EQ("", take());
  queue.end(a1_);
  EXPECT_EQ("b", take());
  EXPECT_EQ(6u, queue.waiting());
}

TEST_F(FairQueueTest, AUserHasALimit) {
  Thing one("1"), two("2"), three("3"), other("other");
  EXPECT_TRUE(queue_.add(a1_, one, 2));
  EXPECT_TRUE(queue_.add(a2_, two, 2));
  EXPECT_FALSE(queue_.add(a1_, three, 2));
  EXPECT_TRUE(queue_.add(b1_, other, 2));
  (void)queue_.take();
  EXPECT_TRUE(queue_.add(a1_, three, 2));
  EXPECT_EQ("other 2 3 ", take_all());
}

TEST_F(FairQueueTest, AClosedClientLeavesTheOthers) {
  for (const char *name : {"x1", "x2"}) add(a1_, name);
  for (const char *name : {"y1", "y2"}) add(a2_, name);
  add(b1_, "b1");
  EXPECT_EQ("x1 x2 ", names(queue_.close(a1_)));
  EXPECT_EQ(3u, queue_.waiting());
  EXPECT_FALSE(add(a1_, "x3"));
  EXPECT_EQ(nullptr, queue_.close(a1_));
  EXPECT_EQ("y1 b1 y2 ", take_all());
}

TEST_F(FairQueueTest, OldThingsAreTakenFromEveryLine) {
  const auto at = [](int seconds) { return Clock::time_point(std::chrono::seconds(seconds)); };
  add(a1_, "old1", at(1));
  add(a1_, "new1", at(9));
  add(a2_, "old2", at(2));
  add(b1_, "old3", at(3));
  add(c1_, "new2", at(8));
  std::string old = names(queue_.take_older(at(5)));
  EXPECT_EQ(15u, old.size());
  for (const char *name : {"old1", "old2", "old3"}) EXPECT_NE(std::string::npos, old.find(name));
  EXPECT_EQ(2u, queue_.waiting());
  EXPECT_EQ(nullptr, queue_.take_older(at(5)));
  EXPECT_EQ("new1 new2 ", take_all());
  add(b1_, "b");
  EXPECT_EQ("b ", take_all());
}

TEST_F(FairQueueTest, AllOfManyAreTakenOnce) {
  std::deque<FairQueue::User> users(7);
  std::deque<FairQueue::Client> clients;
  size_t added = 0;
  for (FairQueue::User &user : users)
    for (int n = 0; n < 5; ++n) clients.emplace_back(user);
  // A weak random generator, which gives the same numbers in every run.
  uint32_t state = 1;
  const auto next = [&](uint32_t below) {
    return (state = state * 1664525 + 1013904223) / 7 % below;
  };
  size_t taken = 0;
  for (int step = 0; step < 20000; ++step) {
    if (next(3) != 0)
      added += add(clients[next(uint32_t(clients.size()))], "t") ? 1 : 0;
    else if (queue_.take() != nullptr)
      ++taken;
  }
  EXPECT_EQ(added - taken, queue_.waiting());
  for (FairQueue::Client &client : clients)
    for (Waiting *each = queue_.close(client); each != nullptr; each = each->next) ++taken;
  EXPECT_EQ(added, taken);
  EXPECT_EQ(0u, queue_.waiting());
}

}  // namespace
}  // namespace lanecrypt::service::daemon
