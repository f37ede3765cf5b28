// Tests of the generation of RSA keys: requests, progress, and failures.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/client/generation.h"
#include "service/client/test_key.h"

namespace service_test {
namespace {

using client::Made;

class Generating : public WithFake {
 protected:
  void SetUp() override {
    fake.generate = [](uint32_t bits) {
      return std::vector<Bytes>(lanecrypt::service::kKeyParts, Bytes(bits / 8, 9));
    };
    ASSERT_TRUE(connects());
  }
  Made generate() {
    const uint8_t exponent[] = {1, 0, 1};
    client::NewKeys wish{2048, exponent, count};
    wish.goes_on = [](void *of) {
      auto *const self = static_cast<Generating *>(of);
      return ++self->told < self->most_told;
    };
    wish.take = [](void *of, const lanecrypt::service::KeyParts &parts) {
      auto *const self = static_cast<Generating *>(of);
      self->took = parts[lanecrypt::service::kD].size();
      ++self->keys;
      return self->is_right;
    };
    wish.argument = this;
    return client::generate(user.here(), wish);
  }
  uint64_t count = 1, keys = 0;
  int told = 0, most_told = 1000;
  size_t took = 0;
  bool is_right = true;
};

TEST_F(Generating, MakesAKey) {
  EXPECT_EQ(Made::kMade, generate());
  EXPECT_EQ(256u, took);
  EXPECT_EQ(OffloadResult::kDone, run());
  EXPECT_EQ(1, fake.opened);
}

// Eight keys at once, on eight channels.
TEST_F(Generating, MakesMany) {
  count = 20;
  EXPECT_EQ(Made::kMade, generate());
  EXPECT_EQ(20u, keys);
  EXPECT_EQ(8, fake.opened);
}

TEST_F(Generating, TellsProgress) {
  fake.delay_ms = 3000;
  const auto began = client::Clock::now();
  EXPECT_EQ(Made::kMade, generate());
  EXPECT_GE(told, 3);
  EXPECT_LE(told, 1 + (client::Clock::now() - began) / milliseconds(250));
}

TEST_F(Generating, IsStopped) {
  fake.delay_ms = 60'000;
  most_told = 2;
  EXPECT_EQ(Made::kStopped, generate());
  EXPECT_TRUE(comes_true([&] { return fake.closed_channels == 1; }));
  EXPECT_EQ(0u, took);
  EXPECT_NE(nullptr, user.here().session());
  fake.delay_ms = 0;
  EXPECT_EQ(OffloadResult::kDone, run());
}

TEST_F(Generating, GivesUpASilentService) {
  fake.answer = FakeService::Answer::kNone;
  const auto began = client::Clock::now();
  EXPECT_EQ(Made::kFailed, generate());
  EXPECT_GT(client::Clock::now() - began, seconds(4));
  EXPECT_LT(client::Clock::now() - began, seconds(20));
  EXPECT_TRUE(user.here().take_loss());
}

TEST_F(Generating, GivesUpAServiceThatGoes) {
  fake.answer = FakeService::Answer::kCloses;
  EXPECT_EQ(Made::kFailed, generate());
  EXPECT_EQ(nullptr, user.here().session());
}

TEST_F(Generating, IsRefused) {
  fake.generate = nullptr;
  EXPECT_EQ(Made::kNot, generate());
  EXPECT_NE(nullptr, user.here().session());
}

TEST_F(Generating, OfAWrongKey) {
  is_right = false;
  EXPECT_EQ(Made::kFailed, generate());
}

TEST_F(Generating, WithTooFewNumbers) {
  fake.generate = [](uint32_t) {
    std::vector<Bytes> parts(lanecrypt::service::kKeyParts, Bytes(128, 9));
    parts.back().clear();
    return parts;
  };
  EXPECT_EQ(Made::kFailed, generate());
  EXPECT_EQ(0u, took);
}

}  // namespace
}  // namespace service_test
