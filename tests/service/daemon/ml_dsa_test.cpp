// Tests ML-DSA signatures by the service.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "daemon_process.h"
#include "lanecrypt/lanecrypt.h"
#include "service/daemon/limits.h"
#include "service/wire/operation_kind.h"
#include "test_client.h"
#include "test_scale.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

struct FreeKey {
  void operator()(lc_ml_dsa_key *key) const { lc_ml_dsa_key_free(key); }
};

// Makes reference keys and signatures on the CPU.
class Cpu {
 public:
  Cpu() {
    lc_options options{};
    options.struct_size = sizeof options;
    options.devices = "none";
    EXPECT_EQ(LC_OK, lc_open(&options, &context_));
  }
  ~Cpu() { lc_close(context_); }
  Cpu(const Cpu &) = delete;

  Bytes private_key(const SignatureSet &set, uint8_t seed_byte) {
    const Bytes seed(32, seed_byte);
    Bytes open(lc_ml_dsa_bytes(lc_ml_dsa_set(set.number), LC_ML_DSA_PUBLIC_KEY));
    Bytes secret(set.key_bytes);
    lc_ml_dsa_message message{};
    message.random = seed.data();
    message.public_key = open.data();
    message.private_key = secret.data();
    run(LC_ML_DSA_GENERATE, set, message);
    return secret;
  }
  // `input`: mu and rnd, which with the key determine the signature.
  Bytes sign(const SignatureSet &set, const Bytes &secret, const Bytes &input) {
    lc_ml_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = lc_ml_dsa_set(set.number);
    parts.private_key = secret.data();
    lc_ml_dsa_key *key = nullptr;
    EXPECT_EQ(LC_OK, lc_ml_dsa_key_new(&parts, &key)) << lc_last_error();
    const std::unique_ptr<lc_ml_dsa_key, FreeKey> owned(key);
    Bytes signature(set.signature_bytes);
    lc_ml_dsa_message message{};
    message.key = key;
    message.message = input.data();
    message.message_bytes = kMlDsaMuBytes;
    message.random = input.data() + kMlDsaMuBytes;
    message.signature = signature.data();
    message.signature_bytes = signature.size();
    run(LC_ML_DSA_SIGN, set, message);
    return signature;
  }

 private:
  void run(lc_ml_dsa_operation operation, const SignatureSet &set,
           const lc_ml_dsa_message &message) {
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = operation;
    job.encoding = LC_MESSAGE_MU;
    job.set = lc_ml_dsa_set(set.number);
    job.device = LC_CPU;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    EXPECT_EQ(LC_OK, lc_ml_dsa_run(context_, &job, nullptr)) << lc_last_error();
  }

  lc_context *context_ = nullptr;
};

Bytes input_of(uint8_t seed) {
  Bytes input(kMlDsaInputBytes);
  for (size_t n = 0; n < input.size(); ++n) input[n] = uint8_t(seed + 7 * n);
  return input;
}

class DaemonMlDsa : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(8u, channels_.size());
    // The service tries ML-DSA after RSA.
    ASSERT_TRUE(comes_true([&] { return client_.page()->ml_dsa_devices == 1; }));
  }
  Answer ask_to_sign(uint64_t number, const SignatureSet &set, const Bytes &input,
                     const Bytes &key) {
    EXPECT_TRUE(channels_[0].send(sign_request(number, set.operation_kind(), input, key)));
    return answer_of(channels_[0]);
  }

  DaemonProcess daemon_;
  TestClient client_ = connected(daemon_.socket_path());
  const std::vector<Socket> channels_ = client_.open_channels(8);
  Cpu cpu_;
};

TEST_F(DaemonMlDsa, TheSignaturesAreRightAndTheDeviceMadeThem) {
  EXPECT_EQ("ready", client_.statistics()["devices"][0]["ml_dsa_state"]);
  uint64_t number = 0;
  for (const SignatureSet &set : kMlDsaSets) {
    const Bytes key = cpu_.private_key(set, 5);
    ++number;
    // Each request carries the key, as requests do until one is answered.
    for (uint8_t n = 0; n < channels_.size(); ++n)
      ASSERT_TRUE(channels_[n].send(sign_request(number, set.operation_kind(), input_of(n), key)));
    for (uint8_t n = 0; n < channels_.size(); ++n) {
      const Answer answer = answer_of(channels_[n]);
      ASSERT_EQ(Outcome::kDone, answer.outcome);
      EXPECT_EQ(cpu_.sign(set, key, input_of(n)), answer.output);
    }
    EXPECT_EQ(cpu_.sign(set, key, input_of(99)), ask_to_sign(number, set, input_of(99), {}).output);
    const nlohmann::json kind = client_.kind(std::string(set.name) + "-sign");
    EXPECT_EQ(9, kind["done"]);
    for (const auto &[name, count] : kind["outcomes"].items()) EXPECT_EQ(0, count) << name;
    // Only operations that a device did have a batch.
    EXPECT_EQ(9, kind["batch_operations"]["count"]);
    EXPECT_EQ(9, kind["device_seconds"]["count"]);
    EXPECT_GT(StatusPage::times_of(*client_.page(), set.operation_kind())[StatusPage::load_of(1)],
              0u);
  }
  const nlohmann::json told = client_.statistics();
  EXPECT_EQ(3, told["keys"]);
  EXPECT_EQ(0, told["operations_waiting"]);
  EXPECT_EQ(0, told["operations_under_way"]);
  EXPECT_EQ(0u, client_.page()->operations);
}

// Each of the keys has another K (FIPS 204, algorithm 24), so that none is shared.
TEST_F(DaemonMlDsa, AKeyTakesNoMoreMemoryThanItIsChargedFor) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  constexpr uint64_t kKeys = 200;
  const SignatureSet &set = kMlDsaSets[2];
  Bytes key = cpu_.private_key(set, 1);
  const auto resident_bytes = [&] {
    std::ifstream file("/proc/" + std::to_string(daemon_.number()) + "/statm");
    size_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * size_t(sysconf(_SC_PAGESIZE));
  };
  size_t before = 0;
  for (uint64_t number = 0; number <= kKeys; ++number) {
    std::memcpy(&key[32], &number, sizeof number);
    ASSERT_EQ(Outcome::kDone, ask_to_sign(1 + number, set, input_of(1), key).outcome);
    if (number == 0) before = resident_bytes();
  }
  EXPECT_EQ(kKeys + 1, client_.statistics()["keys"]);
  EXPECT_LE(resident_bytes() - before, kKeys * daemon::bytes_of_key(Family::kMlDsa, 0));
}

TEST_F(DaemonMlDsa, KeysOfBothFamiliesShareTheirNumbers) {
  const SignatureSet &set = kMlDsaSets[0];
  const Bytes key = cpu_.private_key(set, 1), other = cpu_.private_key(set, 2);
  const TestKey &rsa = key_of_bits(kBits);
  const Bytes rsa_input = extreme_inputs(rsa, 1).back();
  EXPECT_EQ(Outcome::kUnknownKey, ask_to_sign(1, set, input_of(1), {}).outcome);
  ASSERT_EQ(Outcome::kDone, ask(channels_[0], 1, rsa, rsa_input, true).outcome);
  // Number 1 is a key of the other family.
  EXPECT_EQ(Outcome::kBadInput, ask_to_sign(1, set, input_of(1), {}).outcome);
  EXPECT_EQ(Outcome::kBadKey, ask_to_sign(1, set, input_of(1), key).outcome);
  ASSERT_EQ(Outcome::kDone, ask_to_sign(2, set, input_of(1), key).outcome);
  EXPECT_EQ(Outcome::kBadInput, ask(channels_[0], 2, rsa, rsa_input, false).outcome);
  EXPECT_EQ(Outcome::kBadKey, ask_to_sign(2, set, input_of(1), other).outcome);
  EXPECT_EQ(Outcome::kBadInput, ask_to_sign(2, kMlDsaSets[1], input_of(1), {}).outcome);
  // The existing keys still work.
  EXPECT_EQ(cpu_.sign(set, key, input_of(3)), ask_to_sign(2, set, input_of(3), {}).output);
  EXPECT_EQ(Outcome::kDone, ask(channels_[0], 1, rsa, rsa_input, false).outcome);
  EXPECT_EQ(2, client_.statistics()["keys"]);
}

TEST_F(DaemonMlDsa, AKeyWhosePartsDoNotBelongTogetherIsRefused) {
  const SignatureSet &set = kMlDsaSets[0];
  const Bytes key = cpu_.private_key(set, 1);
  // A byte of rho, tr, s1 or t0.
  for (const size_t at : {size_t{0}, size_t{64}, size_t{128}, key.size() - 1}) {
    Bytes wrong = key;
    wrong[at] ^= 1;
    EXPECT_EQ(Outcome::kBadKey, ask_to_sign(1, set, input_of(1), wrong).outcome) << at;
  }
  EXPECT_EQ(Outcome::kDone, ask_to_sign(1, set, input_of(1), key).outcome);
}

TEST_F(DaemonMlDsa, KeysOfClientsAreApartAndGoWithThem) {
  const SignatureSet &set = kMlDsaSets[0];
  const Bytes key = cpu_.private_key(set, 1);
  ASSERT_EQ(Outcome::kDone, ask_to_sign(1, set, input_of(1), key).outcome);
  {
    TestClient second = connected(daemon_.socket_path());
    const std::vector<Socket> channels = second.open_channels(1);
    ASSERT_TRUE(channels[0].send(sign_request(1, set.operation_kind(), input_of(1), {})));
    EXPECT_EQ(Outcome::kUnknownKey, answer_of(channels[0]).outcome);
    ASSERT_TRUE(channels[0].send(sign_request(1, set.operation_kind(), input_of(1), key)));
    EXPECT_EQ(Outcome::kDone, answer_of(channels[0]).outcome);
    EXPECT_EQ(2, client_.statistics()["keys"]);
  }
  EXPECT_TRUE(comes_true([&] { return client_.statistics()["keys"] == 1; }));
  ASSERT_TRUE(client_.control.send(packet(Kind::kForgetKey, ForgetKey{{}, 1})));
  EXPECT_TRUE(comes_true([&] { return client_.statistics()["keys"] == 0; }));
  EXPECT_EQ(Outcome::kUnknownKey, ask_to_sign(1, set, input_of(1), {}).outcome);
}

}  // namespace
}  // namespace lanecrypt::service::test
