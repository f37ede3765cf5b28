// Many clients that connect, work, abort and misbehave at once. Most useful with ThreadSanitizer
// and AddressSanitizer.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <random>
#include <thread>

#include "daemon_process.h"
#include "test_client.h"
#include "test_scale.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

class DaemonStress : public testing::Test {
 protected:
  // Runs one client.
  void visit(std::mt19937 &random) {
    const auto one_of = [&](unsigned count) { return random() % count == 0; };
    TestClient client(daemon_.socket_path());
    if (one_of(20)) return;
    const Outcome welcome = client.hello();
    ASSERT_EQ(Outcome::kDone, welcome);
    std::vector<Socket> channels = client.open_channels(1 + random() % 6);
    const int rounds = 1 + int(random() % 4);
    for (int round = 0; round < rounds && !channels.empty(); ++round) {
      for (const Socket &channel : channels) {
        const uint64_t number = 1 + random() % 3;
        ASSERT_TRUE(channel.send(private_request(number, key_, input_, true)));
      }
      if (one_of(4)) (void)client.control.send(packet(Kind::kForgetKey, ForgetKey{{}, 2}));
      if (one_of(6)) channels.pop_back();
      if (one_of(8)) return;
      if (one_of(10)) {
        (void)client.control.send(Bytes(9, 0x5a));
        return;
      }
      if (one_of(10) && !channels.empty()) {
        (void)channels[0].send(Bytes(100, 0x5a));
        return;
      }
      for (const Socket &channel : channels) {
        const Answer answer = answer_of(channel);
        ASSERT_EQ(Outcome::kDone, answer.outcome);
        EXPECT_EQ(expected_, answer.output);
        ++done_;
      }
      if (one_of(5)) {
        EXPECT_FALSE(client.statistics().is_null());
      }
    }
  }

  DaemonProcess daemon_;
  const TestKey &key_ = key_of_bits(kBits);
  const Bytes input_ = extreme_inputs(key_, 1).back();
  const Bytes expected_ = key_.power(input_, key_.secret.get());
  std::atomic<uint64_t> done_ = 0;
};

TEST_F(DaemonStress, ClientsComeAndGo) {
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < 6; ++n)
    threads.emplace_back([this, n] {
      std::mt19937 random(n);
      for (uint64_t visits = scaled(60); visits > 0; --visits) visit(random);
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_GT(done_, 20u);
  TestClient witness = connected(daemon_.socket_path());
  EXPECT_TRUE(comes_true([&] {
    const nlohmann::json told = witness.statistics();
    return told["clients"] == 1 && told["channels"] == 0 && told["keys"] == 0 &&
           told["operations_waiting"] == 0 && told["operations_under_way"] == 0;
  }));
  EXPECT_GE(witness.kind("rsa-1024-private")["done"], done_.load());
  daemon_.send_signal(SIGTERM);
  EXPECT_EQ(0, daemon_.wait()) << daemon_.log();
}

}  // namespace
}  // namespace lanecrypt::service::test
