// Tests clients that break the protocol. Each loses its own session, and other clients lose
// nothing.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "../../unit/support/hostile_rsa_keys.h"
#include "daemon_process.h"
#include "service/daemon/limits.h"
#include "service/wire/packets.h"
#include "service/wire/sign_packets.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

class DaemonHostile : public testing::Test {
 protected:
  // Checks that another client works as before.
  void TearDown() override {
    if (HasFatalFailure()) return;
    EXPECT_TRUE(daemon_.is_running());
    EXPECT_EQ(Outcome::kDone, ask(channels_[0], 1, key_, input_, false).outcome);
    EXPECT_TRUE(comes_true([&] { return good_.statistics()["clients"] == 1; }));
    daemon_.send_signal(SIGTERM);
    EXPECT_EQ(0, daemon_.wait());
  }
  void SetUp() override {
    ASSERT_EQ(1u, channels_.size());
    ASSERT_EQ(Outcome::kDone, ask(channels_[0], 1, key_, input_, true).outcome);
  }

  // Sends the bytes on a control socket, after a kHello with `says_hello`, and expects the session
  // to end.
  void expect_control_ends(const Bytes &bytes, bool says_hello) {
    TestClient client(daemon_.socket_path());
    if (says_hello) {
      ASSERT_EQ(Outcome::kDone, client.hello());
    }
    (void)client.control.send(bytes);
    EXPECT_TRUE(client.control.is_closed());
  }
  void expect_channel_ends(const Bytes &bytes) {
    TestClient client = connected(daemon_.socket_path());
    const std::vector<Socket> channels = client.open_channels(2);
    ASSERT_EQ(2u, channels.size());
    (void)channels[0].send(bytes);
    EXPECT_TRUE(channels[0].is_closed());
    EXPECT_TRUE(channels[1].is_closed());
    EXPECT_TRUE(client.control.is_closed());
  }

  DaemonProcess daemon_;
  TestClient good_ = connected(daemon_.socket_path());
  const std::vector<Socket> channels_ = good_.open_channels(1);
  const TestKey &key_ = key_of_bits(kBits);
  const Bytes input_ = extreme_inputs(key_, 1).back();
};

// Keys whose numbers are consistent, but whose p and q are not prime. One client sends hundreds of
// them.
TEST_F(DaemonHostile, KeysWhosePrimesAreNone) {
  TestClient client = connected(daemon_.socket_path());
  const std::vector<Socket> channels = client.open_channels(4);
  ASSERT_EQ(4u, channels.size());
  const auto expect_others_are_served = [&] {
    const Answer answer = ask(channels_[0], 1, key_, input_, false);
    ASSERT_EQ(Outcome::kDone, answer.outcome);
    EXPECT_EQ(key_.power(input_, key_.secret.get()), answer.output);
  };
  Bytes input;
  for (unsigned variant = 0; variant < 200; ++variant) {
    const TestKey hostile = lanecrypt::test::key_of_small_factors(variant);
    input.assign(hostile.n.size(), 0);
    input.back() = 2;
    EXPECT_EQ(Outcome::kBadKey,
              ask(channels[variant % 4], variant + 1, hostile, input, true).outcome);
    if (variant % 20 == 0) expect_others_are_served();
  }
  for (uint64_t n = 0; n < 10; ++n) {
    const TestKey hostile = lanecrypt::test::key_with_composite(kBits);
    input.assign(hostile.n.size(), 0);
    input.back() = 2;
    EXPECT_EQ(Outcome::kBadKey, ask(channels[0], 1000 + n, hostile, input, true).outcome);
    expect_others_are_served();
  }
  // Primes of unequal lengths are valid.
  const TestKey unequal = lanecrypt::test::key_of_unequal_primes(1024, 160);
  input.assign(unequal.n.size(), 0);
  input.back() = 7;
  const Answer answer = ask(channels[0], 5000, unequal, input, true);
  EXPECT_EQ(Outcome::kDone, answer.outcome);
  EXPECT_EQ(unequal.power(input, unequal.secret.get()), answer.output);
  const nlohmann::json told = client.statistics();
  EXPECT_EQ("ready", told["devices"][0]["rsa_state"]);
  EXPECT_EQ(0, told["devices"][0]["failures"]);
  EXPECT_EQ(0, told["keys_at_fault_total"]);
  EXPECT_EQ(2, told["keys"]);
}

TEST_F(DaemonHostile, WrongControlPackets) {
  const Bytes hello = packet(Kind::kHello, Hello{});
  for (const bool says_hello : {false, true}) {
    expect_control_ends(Bytes(1, 0), says_hello);
    expect_control_ends(Bytes(hello.begin(), hello.begin() + 7), says_hello);
    expect_control_ends(Bytes(300, 0x55), says_hello);
    expect_control_ends(packet(Kind::kHello, Hello{}, Bytes(1)), says_hello);
    expect_control_ends(packet(Kind::kWelcome, Welcome{}), says_hello);
    expect_control_ends(packet(Kind(0), Hello{}), says_hello);
    expect_control_ends(packet(Kind(0xffff), Hello{}), says_hello);
    expect_control_ends(packet(Kind::kOpenChannels, OpenChannels{{}, 0, 0}), says_hello);
    expect_control_ends(packet(Kind::kOpenChannels, OpenChannels{{}, 33, 0}), says_hello);
    expect_control_ends(packet(Kind::kOpenChannels, OpenChannels{{}, UINT32_MAX, 0}), says_hello);
    expect_control_ends(packet(Kind::kOpenChannels, OpenChannels{{}, 1, 1}), says_hello);
    expect_control_ends(packet(Kind::kRsaPrivate, RsaPrivate{}), says_hello);
    for (size_t at : {size_t{2}, size_t{4}, size_t{7}}) {  // version, length
      Bytes wrong = hello;
      wrong[at] ^= 0x80;
      expect_control_ends(wrong, says_hello);
    }
  }
  expect_control_ends(hello, true);  // a second kHello is an error
  expect_control_ends(packet(Kind::kStatistics, Statistics{}), false);
  expect_control_ends(packet(Kind::kLookAgain, LookAgain{}), false);
  expect_control_ends(packet(Kind::kForgetKey, ForgetKey{{}, 1}), false);
}

// The counters count all of them, and the log names some.
TEST_F(DaemonHostile, WhoBreaksTheProtocolIsCountedAndNamed) {
  const std::string line = "lanecryptd: turned away: user " + std::to_string(geteuid()) +
                           " breaks the protocol, or has another version of it\n";
  Bytes of_another_version = packet(Kind::kHello, Hello{});
  of_another_version[offsetof(Header, version)] ^= 1;
  expect_control_ends(of_another_version, false);
  // The service has counted the first when it closes the channels of the next.
  expect_channel_ends(Bytes(100, 0x55));
  const auto refused = [&] { return good_.statistics()["clients_refused_total"]; };
  EXPECT_TRUE(comes_true([&] { return refused() == 2; })) << refused();
  EXPECT_EQ(line + line, daemon_.log().substr(daemon_.log().find("lanecryptd: turned away")));
  for (int n = 0; n < 50; ++n) expect_control_ends(Bytes(1), true);
  EXPECT_TRUE(comes_true([&] { return refused() == 52; })) << refused();
  const std::string log = daemon_.log();
  size_t lines = 0;
  for (size_t at = 0; (at = log.find(line, at)) != std::string::npos; ++at) ++lines;
  EXPECT_GE(lines, daemon::kRefusalLinesAtOnce);
  EXPECT_LT(lines, 52u);
  // A client that closes its sockets does not count as refused.
  for (int n = 0; n < 10; ++n) {
    TestClient client = connected(daemon_.socket_path());
    (void)client.open_channels(2);
  }
  EXPECT_TRUE(comes_true([&] { return good_.statistics()["clients"] == 1; }));
  EXPECT_EQ(52, refused());
}

TEST_F(DaemonHostile, WrongRequests) {
  const Bytes right = private_request(1, key_, input_, true);
  expect_channel_ends(Bytes(1, 0));
  expect_channel_ends(Bytes(right.begin(), right.end() - 1));
  expect_channel_ends(Bytes(right.begin(), right.begin() + sizeof(RsaPrivate)));
  expect_channel_ends(Bytes(kMostPacketBytes + 1, 0));
  expect_channel_ends(packet(Kind::kHello, Hello{}));
  expect_channel_ends(packet(Kind::kResult, Result{}));
  expect_channel_ends(private_request(0, key_, input_, true));
  const auto changed = [&](auto change) {
    RsaPrivate head;
    std::memcpy(&head, right.data(), sizeof head);
    change(head);
    return packet(Kind::kRsaPrivate, head, std::span(right).subspan(sizeof head));
  };
  expect_channel_ends(changed([](RsaPrivate &head) { head.modulus_bytes = 0; }));
  expect_channel_ends(changed([](RsaPrivate &head) { head.modulus_bytes = UINT32_MAX; }));
  expect_channel_ends(changed([](RsaPrivate &head) { head.modulus_bytes += 1; }));
  expect_channel_ends(changed([](RsaPrivate &head) { head.reserved = 1; }));
  expect_channel_ends(changed([](RsaPrivate &head) { head.part_bytes[kP] = 0xffff; }));
  expect_channel_ends(changed([](RsaPrivate &head) { head.part_bytes[kD] = 1; }));
  expect_channel_ends(changed([](RsaPrivate &head) {
    head.part_bytes[kP] = uint16_t(head.part_bytes[kP] + head.part_bytes[kQ]);
    head.part_bytes[kQ] = 0;
  }));
  for (const uint32_t bits : {0u, 1022u, 1025u, 8194u, UINT32_MAX})
    expect_channel_ends(packet(Kind::kRsaGenerate, RsaGenerate{{}, bits, 3}, Bytes{1, 0, 1}));
  expect_channel_ends(packet(Kind::kRsaGenerate, RsaGenerate{{}, 1024, 0}));
  expect_channel_ends(packet(Kind::kRsaGenerate, RsaGenerate{{}, 1024, 33}, Bytes(33, 1)));
  expect_channel_ends(packet(Kind::kRsaGenerate, RsaGenerate{{}, 1024, 2}, Bytes{1, 0, 1}));
}

TEST_F(DaemonHostile, WrongRequestsForSignatures) {
  for (const SignatureSet &set : kSignatureSets) {
    const Bytes input(set.input_bytes, 1), key(set.key_bytes, 1);
    const Bytes right = sign_request(2, set.operation_kind(), input, key);
    expect_channel_ends(Bytes(right.begin(), right.end() - 1));
    expect_channel_ends(Bytes(right.begin(), right.begin() + sizeof(Sign)));
    expect_channel_ends(sign_request(0, set.operation_kind(), input, key));
    expect_channel_ends(sign_request(2, {set.family, 88}, input, key));
    expect_channel_ends(sign_request(2, set.operation_kind(), input, Bytes(set.key_bytes + 1, 1)));
    expect_channel_ends(sign_request(2, set.operation_kind(), input, Bytes(1, 1)));
    expect_channel_ends(sign_request(2, set.operation_kind(), Bytes(set.input_bytes - 1, 1), {}));
    expect_channel_ends(sign_request(2, set.operation_kind(), Bytes(set.input_bytes + 1, 1), {}));
    const Kind kind = kind_of_signature(set.family);
    expect_channel_ends(packet(kind, Sign{{}, 2, set.number, UINT32_MAX}, input));
  }
  // A key with the length of another set.
  for (const std::span<const SignatureSet> sets : {kMlDsaSets, kSlhDsaSets})
    expect_channel_ends(sign_request(2, sets.back().operation_kind(),
                                     Bytes(sets.back().input_bytes, 1),
                                     Bytes(sets.front().key_bytes, 1)));
}

TEST_F(DaemonHostile, ASecondRequestOnABusyChannel) {
  TestClient client = connected(daemon_.socket_path());
  const std::vector<Socket> channels = client.open_channels(1);
  const Bytes request = private_request(1, key_, input_, true);
  // Fast enough that a request arrives while another is under way.
  for (int n = 0; n < 50; ++n) (void)channels[0].send(request);
  int answers = 0;
  while (channels[0].receive()) ++answers;
  EXPECT_LT(answers, 50);
  EXPECT_TRUE(client.control.is_closed());
}

TEST_F(DaemonHostile, DescriptorsAreDropped) {
  TestClient client = connected(daemon_.socket_path());
  const std::vector<Socket> channels = client.open_channels(1);
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  const Bytes statistics = packet(Kind::kStatistics, Statistics{});
  const std::span<const uint8_t> pieces[] = {statistics};
  ASSERT_EQ(Transfer::kDone, send_packet(client.control.get(), pieces, std::span(&ends[1], 1)));
  EXPECT_TRUE(client.control.receive());
  const Bytes request = private_request(1, key_, input_, true);
  const std::span<const uint8_t> request_pieces[] = {request};
  ASSERT_EQ(Transfer::kDone,
            send_packet(channels[0].get(), request_pieces, std::span(&ends[1], 1)));
  EXPECT_EQ(Outcome::kDone, answer_of(channels[0]).outcome);
  // No process has the descriptor any more.
  close(ends[1]);
  char byte;
  EXPECT_EQ(0, read(ends[0], &byte, 1));
  close(ends[0]);
}

TEST_F(DaemonHostile, WhoReadsNothingHoldsNobodyUp) {
  TestClient slow = connected(daemon_.socket_path());
  const std::vector<Socket> channels = slow.open_channels(32);
  for (const Socket &channel : channels)
    ASSERT_TRUE(channel.send(private_request(1, key_, input_, true)));
  for (int n = 0; n < 5; ++n)
    EXPECT_EQ(Outcome::kDone, ask(channels_[0], 1, key_, input_, false).outcome);
  EXPECT_TRUE(comes_true([&] { return good_.page()->operations == 0; }));
  // The answers lie in the client's own sockets.
  for (const Socket &channel : channels) EXPECT_EQ(Outcome::kDone, answer_of(channel).outcome);
}

TEST_F(DaemonHostile, WhoAsksAndNeverReadsIsSentAway) {
  TestClient slow = connected(daemon_.socket_path());
  const Bytes request = packet(Kind::kStatistics, Statistics{});
  const int flags = fcntl(slow.control.get(), F_GETFL);
  ASSERT_EQ(0, fcntl(slow.control.get(), F_SETFL, flags | O_NONBLOCK));
  EXPECT_TRUE(comes_true([&] {
    (void)slow.control.send(request);
    return good_.statistics()["clients"] == 1;
  }));
}

TEST_F(DaemonHostile, AFloodOfRequestsLeavesTheMainThreadToOthers) {
  TestClient flood = connected(daemon_.socket_path());
  for (int n = 0; n < 2000; ++n)
    (void)flood.control.send(packet(Kind::kForgetKey, ForgetKey{{}, uint64_t(n)}));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(good_.statistics().is_null());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace lanecrypt::service::test
