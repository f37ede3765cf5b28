// Tests what the service does for a client that follows the protocol.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <thread>

#include "daemon_process.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::bn;
using lanecrypt::test::Bn;
using lanecrypt::test::bytes_of;
using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

class DaemonOperations : public testing::Test {
 protected:
  DaemonProcess daemon_;
  TestClient client_ = connected(daemon_.socket_path());
  const TestKey &key_ = key_of_bits(kBits);
  const TestKey other_key_ = TestKey::random(kBits);
  const Bytes input_ = extreme_inputs(key_, 1).back();
};

TEST_F(DaemonOperations, TheResultsAreRightAndTheDeviceMadeThem) {
  // The service tries ML-DSA on its devices soon after its start, and the devices count those
  // operations too.
  for (int look = 0; look < 3000 && client_.statistics()["ml_dsa_devices"] == 0; ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const uint64_t before = client_.statistics()["devices"][0]["operations"];
  const std::vector<Socket> channels = client_.open_channels(8);
  ASSERT_EQ(8u, channels.size());
  const std::vector<Bytes> inputs = extreme_inputs(key_, 10);
  // The first request on each channel carries the key, as requests do until one is answered.
  for (size_t begin = 0; begin < inputs.size(); begin += channels.size()) {
    const size_t count = std::min(channels.size(), inputs.size() - begin);
    for (size_t n = 0; n < count; ++n)
      ASSERT_TRUE(channels[n].send(private_request(7, key_, inputs[begin + n], begin == 0)));
    for (size_t n = 0; n < count; ++n) {
      const Answer answer = answer_of(channels[n]);
      ASSERT_EQ(Outcome::kDone, answer.outcome);
      EXPECT_EQ(key_.power(inputs[begin + n], key_.secret.get()), answer.output);
    }
  }
  const nlohmann::json told = client_.statistics();
  EXPECT_EQ(before + inputs.size(), told["devices"][0]["operations"]);
  EXPECT_EQ(0, told["operations_waiting"]);
  EXPECT_EQ(0, told["operations_under_way"]);
  EXPECT_EQ(1, told["keys"]);
  EXPECT_EQ(8, told["channels"]);
  EXPECT_EQ(0u, client_.page()->operations);
  const nlohmann::json kind = client_.kind("rsa-1024-private");
  EXPECT_EQ(inputs.size(), kind["done"]);
  for (const auto &[name, count] : kind["outcomes"].items()) EXPECT_EQ(0, count) << name;
  for (const char *name :
       {"batch_operations", "queue_seconds", "device_seconds", "service_seconds"}) {
    EXPECT_EQ(inputs.size(), kind[name]["count"]) << name;
    EXPECT_EQ(inputs.size(), kind[name]["buckets"].back()["count"]) << name;
    EXPECT_GT(kind[name]["sum"], 0) << name;
  }
  // Some operations shared a batch, and each batch had at least one.
  EXPECT_LE(kind["batches"].get<double>(), double(inputs.size()) + 0.01);
  EXPECT_GE(kind["batches"].get<double>() * 8, double(inputs.size()) - 0.01);
  EXPECT_LT(kind["device_seconds"]["sum"], kind["service_seconds"]["sum"]);
}

TEST_F(DaemonOperations, EachSizeOfKeyIsRight) {
  const std::vector<Socket> channels = client_.open_channels(1);
  uint64_t number = 0;
  for (const int bits : {1026, 2048}) {
    const TestKey &key = key_of_bits(bits);
    const Bytes input = extreme_inputs(key, 1).back();
    const Answer answer = ask(channels[0], ++number, key, input, true);
    ASSERT_EQ(Outcome::kDone, answer.outcome) << bits;
    EXPECT_EQ(key.power(input, key.secret.get()), answer.output) << bits;
  }
  EXPECT_EQ(1, client_.kind("rsa-1280-private")["done"]);
  EXPECT_EQ(1, client_.kind("rsa-2048-private")["done"]);
}

TEST_F(DaemonOperations, ThePageTellsOfTheService) {
  const StatusPage &page = *client_.page();
  EXPECT_EQ(kPageMagic, page.magic);
  EXPECT_EQ(1u, page.usable_devices);
  EXPECT_EQ(std::thread::hardware_concurrency(), page.cores);
  EXPECT_GT(page.rsa_us[StatusPage::size_of(2048)][StatusPage::load_of(1)], 0u);
  EXPECT_EQ(0u, page.rsa_us[StatusPage::size_of(kBits)][StatusPage::load_of(1)]);
  const std::vector<Socket> channels = client_.open_channels(1);
  ASSERT_EQ(Outcome::kDone, ask(channels[0], 1, key_, input_, true).outcome);
  EXPECT_GT(page.rsa_us[StatusPage::size_of(kBits)][StatusPage::load_of(1)], 0u);
  EXPECT_EQ(MAP_FAILED, mmap(nullptr, kStatusPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                             client_.page_descriptor(), 0));
}

TEST_F(DaemonOperations, TheMachineIsLookedAtWhileAClientAsks) {
  const StatusPage &page = *client_.page();
  EXPECT_EQ(0u, page.looked_at);
  ASSERT_TRUE(client_.control.send(packet(Kind::kLookAgain, LookAgain{})));
  EXPECT_TRUE(comes_true([&] { return page.looked_at != 0; }));
  const uint64_t first = page.looked_at;
  EXPECT_TRUE(comes_true([&] { return page.looked_at > first; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const uint64_t last = page.looked_at;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(last, page.looked_at) << "nobody asks any more";
}

// ---- Keys -------------------------------------------------------------------

TEST_F(DaemonOperations, AKeyMayComeAgainIfItIsTheSame) {
  const std::vector<Socket> channels = client_.open_channels(1);
  EXPECT_EQ(Outcome::kUnknownKey, ask(channels[0], 5, key_, input_, false).outcome);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, true).outcome);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, true).outcome);
  EXPECT_EQ(Outcome::kBadKey, ask(channels[0], 5, other_key_, input_, true).outcome);
  // A key that differs in its last part is refused, and the stored key stays.
  TestKey last = TestKey(key_.first.get(), key_.second.get(), key_.exponent.get());
  last.qinv.back() ^= 1;
  EXPECT_EQ(Outcome::kBadKey, ask(channels[0], 5, last, input_, true).outcome);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, false).outcome);
  EXPECT_EQ(1, client_.statistics()["keys"]);
  EXPECT_EQ(3, client_.kind("rsa-1024-private")["done"]);
}

TEST_F(DaemonOperations, AForgottenKeyIsUnknown) {
  const std::vector<Socket> channels = client_.open_channels(1);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, true).outcome);
  ASSERT_TRUE(client_.control.send(packet(Kind::kForgetKey, ForgetKey{{}, 5})));
  ASSERT_TRUE(client_.control.send(packet(Kind::kForgetKey, ForgetKey{{}, 77})));
  EXPECT_EQ(0, client_.statistics()["keys"]);
  EXPECT_EQ(Outcome::kUnknownKey, ask(channels[0], 5, key_, input_, false).outcome);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, other_key_, Bytes(kBits / 8, 1), true).outcome);
}

TEST_F(DaemonOperations, ABadKeyIsRefusedAndItsNumberFree) {
  const std::vector<Socket> channels = client_.open_channels(1);
  const auto ask_with = [&](auto change) {
    TestKey bad(key_.first.get(), key_.second.get(), key_.exponent.get());
    change(bad);
    return ask(channels[0], 5, bad, input_, true).outcome;
  };
  EXPECT_EQ(Outcome::kBadKey, ask_with([](TestKey &key) { key.dp.back() ^= 2; }));
  EXPECT_EQ(Outcome::kBadKey, ask_with([](TestKey &key) { key.n[3] ^= 2; }));
  EXPECT_EQ(Outcome::kBadKey, ask_with([](TestKey &key) { key.e = {4}; }));
  // The library would treat this as a public key.
  EXPECT_EQ(Outcome::kBadKey, ask_with([](TestKey &key) {
              for (Bytes *part : {&key.p, &key.q, &key.dp, &key.dq, &key.qinv}) *part = {0};
            }));
  EXPECT_EQ(0, client_.statistics()["keys"]);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, true).outcome);
}

TEST_F(DaemonOperations, AModulusWithZerosBeforeItIsRefused) {
  const std::vector<Socket> channels = client_.open_channels(1);
  TestKey longer(key_.first.get(), key_.second.get(), key_.exponent.get());
  longer.n.insert(longer.n.begin(), 8, 0);
  Bytes input(longer.n.size(), 0);
  input.back() = 3;
  EXPECT_EQ(Outcome::kBadKey, ask(channels[0], 5, longer, input, true).outcome);
}

TEST_F(DaemonOperations, AKeyThatNoDeviceTakesIsBad) {
  // A key whose public exponent is too long.
  const Bn e = lanecrypt::test::power_of_two(80, 13);
  const TestKey key(key_.first.get(), key_.second.get(), e.get());
  const std::vector<Socket> channels = client_.open_channels(1);
  EXPECT_EQ(Outcome::kBadKey, ask(channels[0], 5, key, Bytes(key.n.size(), 0), true).outcome);
}

TEST_F(DaemonOperations, AnInputMustBeLessThanTheModulus) {
  const std::vector<Socket> channels = client_.open_channels(1);
  EXPECT_EQ(Outcome::kBadInput, ask(channels[0], 5, key_, key_.n, true).outcome);
  EXPECT_EQ(Outcome::kBadInput,
            ask(channels[0], 5, key_, Bytes(key_.n.size(), 0xff), false).outcome);
  // An input of another length than the key's modulus.
  EXPECT_EQ(Outcome::kBadInput,
            ask(channels[0], 5, key_, Bytes(key_.n.size() + 1, 0), false).outcome);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, false).outcome);
  EXPECT_EQ(2, client_.kind("rsa-1024-private")["outcomes"]["bad_input"]);
  EXPECT_EQ(1, client_.kind("rsa-1280-private")["outcomes"]["bad_input"]);
}

TEST_F(DaemonOperations, NumbersOfOthersAreUnknown) {
  const std::vector<Socket> channels = client_.open_channels(1);
  ASSERT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, true).outcome);
  TestClient thief = connected(daemon_.socket_path());
  const std::vector<Socket> its = thief.open_channels(1);
  for (uint64_t number = 1; number < 20; ++number)
    EXPECT_EQ(Outcome::kUnknownKey, ask(its[0], number, key_, input_, false).outcome);
  // The same number stands for another key there.
  const Answer answer = ask(its[0], 5, other_key_, Bytes(kBits / 8, 1), true);
  EXPECT_EQ(Outcome::kDone, answer.outcome);
  EXPECT_EQ(other_key_.power(Bytes(kBits / 8, 1), other_key_.secret.get()), answer.output);
  EXPECT_EQ(Outcome::kDone, ask(channels[0], 5, key_, input_, false).outcome);
}

// ---- Devices ----------------------------------------------------------------

TEST(DaemonDevices, WithoutOneTheClientIsToldSo) {
  DaemonProcess daemon({.arguments = {"--devices", "none"}});
  TestClient client = connected(daemon.socket_path());
  EXPECT_EQ(0u, client.page()->usable_devices);
  const std::vector<Socket> channels = client.open_channels(1);
  const TestKey &key = key_of_bits(kBits);
  EXPECT_EQ(Outcome::kNoDevice, ask(channels[0], 5, key, Bytes(kBits / 8, 0), true).outcome);
  EXPECT_EQ(0, client.statistics()["keys"]);
  EXPECT_TRUE(client.statistics()["devices"].empty());
}

TEST(DaemonDevices, ALostOneIsTold) {
  // The service's own trials are the first operations.
  DaemonProcess daemon({.environment = {{"LANECRYPT_HOST_FAULT", "lost-after:30"}}});
  TestClient client = connected(daemon.socket_path());
  EXPECT_EQ(1u, client.page()->usable_devices);
  const std::vector<Socket> channels = client.open_channels(1);
  const TestKey &key = key_of_bits(kBits);
  const Bytes input = extreme_inputs(key, 1).back();
  Outcome outcome = Outcome::kDone;
  int done = 0;
  for (; outcome == Outcome::kDone && done < 100; ++done)
    outcome = ask(channels[0], 5, key, input, true).outcome;
  EXPECT_TRUE(outcome == Outcome::kFailed || outcome == Outcome::kNoDevice) << int(outcome);
  EXPECT_TRUE(comes_true([&] { return client.page()->usable_devices == 0; }));
  EXPECT_EQ(Outcome::kNoDevice, ask(channels[0], 5, key, input, true).outcome);
  EXPECT_EQ("lost", client.statistics()["devices"][0]["rsa_state"]);
  EXPECT_NE(std::string::npos, daemon.log().find("host:0 (emulator on the CPU, for tests) is lost"))
      << daemon.log();
}

}  // namespace
}  // namespace lanecrypt::service::test
