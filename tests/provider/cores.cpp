// Tests large updates on several cores, which are used if they were measured to be faster than a
// device. The output, and the stream after it, must equal OpenSSL's. The counters show that the
// cores were used.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>

#include "provider/measured_card.h"
#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {
namespace {

using lanecrypt::CipherKind;
using Aliasing = Twins::Aliasing;

constexpr size_t kMiB = 1 << 20;
const uint8_t kKey[64] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae};
// The counter carries through all of its bits in the second MiB.
const uint8_t kIv[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                         0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff};

struct Kind {
  const char *name;
  CipherKind kind;
};
const Kind kKinds[] = {
    {"AES-128-CTR", {LC_AES_CTR, LC_ENCRYPT, 16}},    {"AES-128-ECB", {LC_AES_ECB, LC_ENCRYPT, 16}},
    {"AES-128-ECB", {LC_AES_ECB, LC_DECRYPT, 16}},    {"AES-256-CBC", {LC_AES_CBC, LC_DECRYPT, 16}},
    {"AES-128-CFB", {LC_AES_CFB128, LC_DECRYPT, 16}}, {"AES-128-XTS", {LC_AES_XTS, LC_ENCRYPT, 32}},
    {"ChaCha20", {LC_CHACHA20, LC_ENCRYPT, 32}}};

class Cores : public MeasuredCard {
 protected:
  void SetUp() override {
    MeasuredCard::SetUp();
    std::vector<CipherKind> kinds;
    for (const Kind &one : kKinds) kinds.push_back(one.kind);
    store_slow_card(kinds);
  }
  void TearDown() override {
    library_.reset();
    MeasuredCard::TearDown();
  }
  void load(const Settings &settings) {
    Settings with_cores = settings;
    with_cores.push_back({"cores", "8"});
    library_ = std::make_unique<Library>(with_cores);
    ASSERT_TRUE(library_->is_ready()) << library_->errors();
  }
  uint64_t bytes_of_cores() { return library_->counter("lanecrypt.cores-bytes"); }
  // After a GiB the library enumerates devices, and loads the measurements.
  void do_much() {
    constexpr int kMost = 20000;
    EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
    O(EVP_CipherInit_ex2)
    (context, library_->cipher("AES-128-CTR", "gpu"), kKey, kIv, 1, nullptr);
    Bytes data(4 * kMiB);
    int n = 0, written = 0;
    for (; n < kMost && bytes_of_cores() == 0; ++n)
      O(EVP_CipherUpdate)(context, data.data(), &written, data.data(), int(data.size()));
    O(EVP_CIPHER_CTX_free)(context);
    EXPECT_GE(n, 256);
    ASSERT_LT(n, kMost);
  }

  std::unique_ptr<Library> library_;
};

TEST_F(Cores, LeaveTheStreamAsOpensslDoes) {
  load({{"devices", "host"}});
  do_much();
  Random random(7);
  for (const Kind &one : kKinds) {
    SCOPED_TRACE(std::string(one.name) + (one.kind.direction == LC_DECRYPT ? ", decrypting" : ""));
    const bool is_whole = one.kind.info().granule_bytes != 1 || one.kind.info().has_data_units();
    const uint64_t before = bytes_of_cores();
    Twins twins(*library_, one.name);
    twins.init(kKey, kIv, one.kind.direction == LC_ENCRYPT ? 1 : 0);
    // The updates begin and end within blocks, if the mode allows that.
    for (const size_t bytes : {is_whole ? size_t{0} : size_t{5}, 2 * kMiB + (is_whole ? 0 : 100),
                               size_t{48}, 3 * kMiB}) {
      if (bytes == 0) continue;
      twins.update(random_bytes(random, bytes),
                   bytes % 3 == 0 ? Aliasing::kApart : Aliasing::kInPlace, bytes % 16);
      twins.read_parameters();
    }
    twins.finish();
    EXPECT_TRUE(twins.is_whole()) << twins.difference();
    // An update of XTS is one data unit.
    if (one.kind.info().has_data_units())
      EXPECT_EQ(bytes_of_cores(), before);
    else
      EXPECT_GE(bytes_of_cores() - before, 5 * kMiB - 100);
  }
  EXPECT_EQ(library_->counter("lanecrypt.device-jobs"), 0u);
  EXPECT_EQ(library_->counter("lanecrypt.failures"), 0u);
  EXPECT_LT(bytes_of_cores(), library_->counter("lanecrypt.cpu-bytes"));
  // The same in one call of EVP_Cipher().
  const uint64_t before = bytes_of_cores();
  Twins twins(*library_, "AES-256-CBC");
  twins.init(kKey, kIv, 0);
  twins.set_padding(0);
  twins.at_once(random_bytes(random, 2 * kMiB), Aliasing::kInPlace, 0);
  twins.update(random_bytes(random, 32), Aliasing::kApart, 0);
  EXPECT_TRUE(twins.is_whole()) << twins.difference();
  EXPECT_EQ(bytes_of_cores() - before, 2 * kMiB);
}

TEST_F(Cores, DoNothingWhereADeviceMustOrIsToldTo) {
  for (const Settings &settings : {Settings{{"devices", "host"}, {"require_gpu", "yes"}},
                                   Settings{{"devices", "host"}, {"threshold_bytes", "1k"}}}) {
    load(settings);
    Twins twins(*library_, "AES-128-CTR");
    twins.init(kKey, kIv, 1);
    for (int n = 0; n < 3; ++n) twins.update(Bytes(2 * kMiB), Aliasing::kInPlace, 0);
    EXPECT_TRUE(twins.is_whole()) << twins.difference();
    EXPECT_EQ(library_->counter("lanecrypt.device-jobs"), 3u);
    EXPECT_EQ(bytes_of_cores(), 0u);
  }
}

}  // namespace
}  // namespace provider_test
