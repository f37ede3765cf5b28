// Tests the generation of RSA keys by the service.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include "daemon_process.h"
#include "service/wire/packets.h"
#include "service/wire/rsa_packets.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::bn;
using lanecrypt::test::Bn;
using lanecrypt::test::bn_of;
using lanecrypt::test::is_prime;

Bytes request(uint32_t bits, const Bytes &exponent = {1, 0, 1}) {
  return packet(Kind::kRsaGenerate, RsaGenerate{{}, bits, uint32_t(exponent.size())}, exponent);
}

struct Made {
  Outcome outcome = Outcome::kFailed;
  std::vector<Bytes> parts;
  int news = 0;  // number of kStillAtWork packets
};

Made made_by(const Socket &channel) {
  Made made;
  while (const std::optional<Bytes> answer = channel.receive()) {
    if (fixed_part<StillAtWork>(*answer, Kind::kStillAtWork)) {
      ++made.news;
      continue;
    }
    const auto key = read_generated_key(*answer);
    EXPECT_TRUE(key);
    if (!key) return made;
    made.outcome = key->outcome;
    for (const auto &part : key->parts) made.parts.emplace_back(part.begin(), part.end());
    return made;
  }
  ADD_FAILURE() << "the channel is closed";
  return made;
}

// Even the first key must be made by the device.
Made search_by_device(const Socket &channel, uint32_t bits, const Bytes &exponent = {1, 0, 1}) {
  EXPECT_TRUE(channel.send(request(bits, exponent)));
  return made_by(channel);
}

TEST(DaemonSearches, TheKeyIsRightAndTheDeviceFoundIt) {
  DaemonProcess daemon(with_subgroups());
  TestClient client = connected(daemon.socket_path());
  const uint64_t before = client.statistics()["devices"][0]["operations"];
  const std::vector<Socket> channels = client.open_channels(1);
  const Made made = search_by_device(channels[0], 1024, {1, 0, 3});
  ASSERT_EQ(Outcome::kDone, made.outcome);
  const auto part = [&](KeyPart which) { return bn_of(made.parts[which]); };
  const Bn p = part(kP), q = part(kQ), n = bn();
  BN_CTX *context = BN_CTX_new();
  BN_mul(n.get(), p.get(), q.get(), context);
  BN_CTX_free(context);
  EXPECT_TRUE(is_prime(p.get()) && is_prime(q.get()));
  EXPECT_EQ(0, BN_cmp(n.get(), part(kN).get()));
  EXPECT_EQ(1024, BN_num_bits(n.get()));
  const TestKey again(p.get(), q.get(), part(kE).get());
  EXPECT_EQ(65539u, BN_get_word(part(kE).get()));
  EXPECT_EQ(0, BN_cmp(bn_of(again.dp).get(), part(kDp).get()));
  EXPECT_EQ(0, BN_cmp(bn_of(again.dq).get(), part(kDq).get()));
  EXPECT_EQ(0, BN_cmp(bn_of(again.qinv).get(), part(kQinv).get()));
  EXPECT_FALSE(made.parts[kD].empty());
  EXPECT_GT(client.statistics()["devices"][0]["operations"], before);
  EXPECT_EQ(1, client.kind("rsa-1024-generate")["done"]);
  // The channel is still usable.
  const TestKey &key = lanecrypt::test::key_of_bits(1024);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 1, key, Bytes(128, 1), true).outcome);
}

TEST(DaemonSearches, ASingleThreadIsNoDeviceForOne) {
  DaemonProcess daemon;
  TestClient client = connected(daemon.socket_path());
  const std::vector<Socket> channels = client.open_channels(1);
  for (int n = 0; n < 10; ++n) {
    ASSERT_TRUE(channels[0].send(request(1024)));
    EXPECT_EQ(Outcome::kNoDevice, made_by(channels[0]).outcome);
  }
  EXPECT_EQ(10, client.kind("rsa-1024-generate")["outcomes"]["no_device"]);
}

TEST(DaemonSearches, ABadExponentIsTold) {
  DaemonProcess daemon(with_subgroups());
  TestClient client = connected(daemon.socket_path());
  const std::vector<Socket> channels = client.open_channels(1);
  for (const Bytes &exponent : {Bytes{3}, Bytes{1, 0, 2}, Bytes{0}})
    EXPECT_EQ(Outcome::kBadInput, search_by_device(channels[0], 1024, exponent).outcome);
}

TEST(DaemonSearches, ALongOneSaysThatItGoesOnAndStopsWithItsClient) {
  DaemonProcess daemon(with_subgroups());
  TestClient client = connected(daemon.socket_path());
  std::vector<Socket> channels = client.open_channels(2);
  // The emulator takes a while for this.
  ASSERT_TRUE(channels[0].send(request(4096)));
  for (int n = 0; n < 2; ++n) {
    const std::optional<Bytes> news = channels[0].receive();
    ASSERT_TRUE(news);
    EXPECT_TRUE(fixed_part<StillAtWork>(*news, Kind::kStillAtWork));
  }
  channels[0].close();
  EXPECT_TRUE(comes_true([&] {
    const nlohmann::json kind = client.kind("rsa-4096-generate");
    return !kind.is_null() && kind["outcomes"]["failed"].get<int>() + kind["done"].get<int>() == 1;
  }));
  EXPECT_TRUE(comes_true([&] { return client.statistics()["channels"] == 1; }));
  // A search also ends when the service ends.
  ASSERT_TRUE(channels[1].send(request(4096)));
  ASSERT_TRUE(channels[1].receive());
  daemon.send_signal(SIGTERM);
  EXPECT_EQ(0, daemon.wait());
}

}  // namespace
}  // namespace lanecrypt::service::test
