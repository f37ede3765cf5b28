// Tests SLH-DSA signatures by the service.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <memory>

#include "../../unit/slh/slh_dsa_job.h"
#include "daemon_process.h"
#include "service/wire/operation_kind.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;
using lanecrypt::test::slh_key;
using lanecrypt::test::slh_seeds;
using lanecrypt::test::SlhRunner;

constexpr const SignatureSet &kFast = kSlhDsaSets[LC_SLH_DSA_SHA2_128F];
constexpr const SignatureSet &kOfOtherHash = kSlhDsaSets[LC_SLH_DSA_SHAKE_128F];
constexpr const SignatureSet &kLongest = kSlhDsaSets[LC_SLH_DSA_SHA2_256F];

// Returns R and a digest.
Bytes input_of(const SignatureSet &set, uint8_t seed) {
  Bytes input(set.input_bytes);
  for (size_t n = 0; n < input.size(); ++n) input[n] = uint8_t(seed + 7 * n);
  return input;
}

// Makes reference keys and signatures on the CPU.
class Cpu {
 public:
  Cpu() {
    lc_options options{};
    options.struct_size = sizeof options;
    options.devices = "none";
    EXPECT_EQ(LC_OK, lc_open(&options, &context_));
    runner_ = std::make_unique<SlhRunner>(context_, LC_CPU);
    runner_->job.encoding = LC_MESSAGE_DIGEST;
  }
  ~Cpu() { lc_close(context_); }
  Cpu(const Cpu &) = delete;

  // Returns a key in the form that clients send.
  Bytes key(const SignatureSet &set, uint8_t seed) {
    Bytes whole = runner_->make_key(set.number, slh_seeds(set.number, seed));
    const auto n = std::ptrdiff_t(whole.size() / 4);
    whole.erase(whole.begin() + n, whole.begin() + 2 * n);
    return whole;
  }
  Bytes sign(const SignatureSet &set, const Bytes &key, const Bytes &input) {
    Bytes whole = key;
    const size_t n = key.size() / 3;
    whole.insert(whole.begin() + std::ptrdiff_t(n), n, uint8_t{7});
    return runner_->sign(set.number, slh_key(set.number, whole), input);
  }

 private:
  lc_context *context_ = nullptr;
  std::unique_ptr<SlhRunner> runner_;
};

// All tests share one service, which has tried SLH-DSA on its device.
class DaemonSlhDsa : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    daemon_ = std::make_unique<DaemonProcess>();
    TestClient client = connected(daemon_->socket_path());
    const std::vector<Socket> channels = client.open_channels(1);
    ASSERT_TRUE(comes_true([&] { return client.page()->slh_dsa_devices == 1; }));
    // The service does not try SLH-DSA before the first key comes.
    ASSERT_EQ("untried", client.statistics()["devices"][0]["slh_dsa_state"]);
    const Bytes request =
        sign_request(1, kFast.operation_kind(), input_of(kFast, 1), Cpu().key(kFast, 1));
    // The first request waits for the trial, but not for long.
    ASSERT_TRUE(comes_true([&] {
      EXPECT_TRUE(channels[0].send(request));
      const Outcome outcome = answer_of(channels[0]).outcome;
      EXPECT_TRUE(outcome == Outcome::kDone || outcome == Outcome::kNoDevice);
      return outcome != Outcome::kNoDevice;
    }));
  }
  static void TearDownTestSuite() { daemon_.reset(); }

  Answer ask_to_sign(uint64_t number, const SignatureSet &set, const Bytes &input,
                     const Bytes &key) {
    EXPECT_TRUE(channels_[0].send(sign_request(number, set.operation_kind(), input, key)));
    return answer_of(channels_[0]);
  }
  uint64_t done(const SignatureSet &set) {
    const nlohmann::json kind = client_.kind(std::string(set.name) + "-sign");
    return kind.is_null() ? 0 : kind["done"].get<uint64_t>();
  }
  // Waits until the service has `count` keys: those of clients that have gone are released a little
  // later.
  bool keys_become(int count) {
    return comes_true([&] { return client_.statistics()["keys"] == count; });
  }

  static std::unique_ptr<DaemonProcess> daemon_;
  TestClient client_ = connected(daemon_->socket_path());
  const std::vector<Socket> channels_ = client_.open_channels(3);
  Cpu cpu_;
};
std::unique_ptr<DaemonProcess> DaemonSlhDsa::daemon_;

TEST_F(DaemonSlhDsa, TheSignaturesAreRightAndTheDeviceMadeThem) {
  EXPECT_EQ("ready", client_.statistics()["devices"][0]["slh_dsa_state"]);
  uint64_t number = 0;
  for (const SignatureSet *const set : {&kFast, &kOfOtherHash, &kLongest}) {
    SCOPED_TRACE(set->name);
    const std::string name = std::string(set->name) + "-sign";
    const nlohmann::json before = client_.kind(name);
    const uint64_t done_before = done(*set);
    const Bytes key = cpu_.key(*set, 5);
    ++number;
    // Each request carries the key, as requests do until one is answered.
    for (uint8_t n = 0; n < 2; ++n)
      ASSERT_TRUE(
          channels_[n].send(sign_request(number, set->operation_kind(), input_of(*set, n), key)));
    for (uint8_t n = 0; n < 2; ++n) {
      const Answer answer = answer_of(channels_[n]);
      ASSERT_EQ(Outcome::kDone, answer.outcome);
      EXPECT_EQ(cpu_.sign(*set, key, input_of(*set, n)), answer.output);
    }
    EXPECT_EQ(cpu_.sign(*set, key, input_of(*set, 0)),
              ask_to_sign(number, *set, input_of(*set, 0), {}).output);
    const nlohmann::json kind = client_.kind(name);
    EXPECT_EQ(done_before + 3, kind["done"]);
    // Only operations that a device did have a batch.
    EXPECT_EQ(kind["done"], kind["batch_operations"]["count"]);
    EXPECT_EQ(kind["done"], kind["device_seconds"]["count"]);
    EXPECT_GT(StatusPage::times_of(*client_.page(), set->operation_kind())[StatusPage::load_of(1)],
              0u);
  }
  EXPECT_EQ(0, client_.statistics()["devices"][0]["failures"]);
}

TEST_F(DaemonSlhDsa, KeysOfAllFamiliesShareTheirNumbers) {
  const Bytes key = cpu_.key(kFast, 1), input = input_of(kFast, 1);
  const TestKey &rsa = key_of_bits(kBits);
  const Bytes rsa_input = extreme_inputs(rsa, 1).back();
  EXPECT_EQ(Outcome::kUnknownKey, ask_to_sign(1, kFast, input, {}).outcome);
  ASSERT_EQ(Outcome::kDone, ask(channels_[0], 1, rsa, rsa_input, true).outcome);
  // Number 1 is a key of the other family.
  EXPECT_EQ(Outcome::kBadInput, ask_to_sign(1, kFast, input, {}).outcome);
  EXPECT_EQ(Outcome::kBadKey, ask_to_sign(1, kFast, input, key).outcome);
  ASSERT_EQ(Outcome::kDone, ask_to_sign(2, kFast, input, key).outcome);
  EXPECT_EQ(Outcome::kBadInput, ask(channels_[0], 2, rsa, rsa_input, false).outcome);
  EXPECT_EQ(Outcome::kBadKey, ask_to_sign(2, kFast, input, cpu_.key(kFast, 2)).outcome);
  // A set whose signatures, keys and inputs have the same lengths.
  EXPECT_EQ(Outcome::kBadInput, ask_to_sign(2, kOfOtherHash, input, {}).outcome);
  EXPECT_EQ(Outcome::kBadInput, ask_to_sign(2, kOfOtherHash, input, key).outcome);
  // The existing keys still work.
  EXPECT_EQ(cpu_.sign(kFast, key, input), ask_to_sign(2, kFast, input, {}).output);
  EXPECT_EQ(Outcome::kDone, ask(channels_[0], 1, rsa, rsa_input, false).outcome);
}

// The library alone would accept such a key, and blame the device for each signature.
TEST_F(DaemonSlhDsa, AKeyWhoseRootIsAnothersIsRefused) {
  const Bytes key = cpu_.key(kFast, 1);
  // A byte of SK.seed, PK.seed or PK.root.
  for (const size_t at : {size_t{0}, size_t{16}, key.size() - 1}) {
    Bytes wrong = key;
    wrong[at] ^= 1;
    EXPECT_EQ(Outcome::kBadKey, ask_to_sign(1, kFast, input_of(kFast, 1), wrong).outcome) << at;
  }
  EXPECT_EQ(Outcome::kDone, ask_to_sign(1, kFast, input_of(kFast, 1), key).outcome);
  EXPECT_EQ(0, client_.statistics()["devices"][0]["failures"]);
}

// A device computes the root of an SLH-DSA key, which takes long. A new RSA key does not wait for
// that.
TEST_F(DaemonSlhDsa, OtherNewKeysDoNotWaitForRoots) {
  const SignatureSet &slow = kSlhDsaSets[LC_SLH_DSA_SHAKE_256S];
  const std::vector<Socket> channels = client_.open_channels(8);
  ASSERT_EQ(8u, channels.size());
  for (size_t n = 1; n < channels.size(); ++n)
    ASSERT_TRUE(channels[n].send(sign_request(n, slow.operation_kind(), input_of(slow, uint8_t(n)),
                                              Bytes(slow.key_bytes, uint8_t(n)))));
  const TestKey &key = key_of_bits(kBits);
  EXPECT_EQ(Outcome::kDone,
            ask(channels[0], 100, key, extreme_inputs(key, 1).back(), true).outcome);
  pollfd last{channels.back().get(), POLLIN, 0};
  EXPECT_EQ(0, poll(&last, 1, 0)) << "the last root was made before";
}

TEST_F(DaemonSlhDsa, KeysOfClientsAreApartAndGoWithThem) {
  const Bytes key = cpu_.key(kFast, 1), input = input_of(kFast, 1);
  ASSERT_TRUE(keys_become(0));
  ASSERT_EQ(Outcome::kDone, ask_to_sign(1, kFast, input, key).outcome);
  {
    TestClient second = connected(daemon_->socket_path());
    const std::vector<Socket> channels = second.open_channels(1);
    ASSERT_TRUE(channels[0].send(sign_request(1, kFast.operation_kind(), input, {})));
    EXPECT_EQ(Outcome::kUnknownKey, answer_of(channels[0]).outcome);
    ASSERT_TRUE(channels[0].send(sign_request(1, kFast.operation_kind(), input, key)));
    EXPECT_EQ(Outcome::kDone, answer_of(channels[0]).outcome);
    EXPECT_EQ(2, client_.statistics()["keys"]);
  }
  EXPECT_TRUE(keys_become(1));
  ASSERT_TRUE(client_.control.send(packet(Kind::kForgetKey, ForgetKey{{}, 1})));
  EXPECT_TRUE(keys_become(0));
  EXPECT_EQ(Outcome::kUnknownKey, ask_to_sign(1, kFast, input, {}).outcome);
}

// Unread answers take no more memory than a channel's socket, and do not harm other clients.
TEST_F(DaemonSlhDsa, AClientThatDoesNotReadIsSentAway) {
  const Bytes key = cpu_.key(kLongest, 1), input = input_of(kLongest, 1);
  TestClient lazy = connected(daemon_->socket_path());
  const std::vector<Socket> channels = lazy.open_channels(1);
  const auto unread = [&] {
    int bytes = 0;
    return ioctl(channels[0].get(), FIONREAD, &bytes) == 0 ? size_t(bytes) : 0;
  };
  for (size_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(channels[0].send(sign_request(1, kLongest.operation_kind(), input, key))) << n;
    // The next request is sent after this one's answer has come. The third answer has no room.
    if (n < 3) {
      ASSERT_TRUE(comes_true([&] { return unread() >= n * kLongest.signature_bytes; })) << n;
    }
  }
  EXPECT_TRUE(lazy.control.is_closed());
  // The channel has the answers for which there was room.
  EXPECT_EQ(Outcome::kDone, answer_of(channels[0]).outcome);
  EXPECT_TRUE(keys_become(0));
  EXPECT_EQ(Outcome::kDone, ask_to_sign(1, kFast, input_of(kFast, 1), cpu_.key(kFast, 1)).outcome);
}

}  // namespace
}  // namespace lanecrypt::service::test
