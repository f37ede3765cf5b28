// Tests CCM, which requires its calls in a certain order and its text in one piece. The provider
// must behave like OpenSSL, in that order and in any other, and the device must have done its
// share.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "provider/provider_under_test.h"
#include "provider/random_input.h"
#include "test_scale.h"

namespace provider_test {
namespace {

struct Message {
  Bytes key, iv, aad, plain, cipher, tag;
};

// seal() computes the expected ciphertext and tag by OpenSSL.
void seal(Library &library, const char *name, Message *message, size_t tag_bytes) {
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  int bytes = 0;
  message->cipher.assign(message->plain.size() + 1, 0);
  message->tag.assign(tag_bytes, 0);
  bool ok =
      O(EVP_CipherInit_ex2)(context, library.cipher(name, "default"), nullptr, nullptr, 1,
                            nullptr) &&
      O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_IVLEN, int(message->iv.size()), nullptr) &&
      O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_TAG, int(tag_bytes), nullptr) &&
      O(EVP_CipherInit_ex2)(context, nullptr, message->key.data(), message->iv.data(), 1,
                            nullptr) &&
      O(EVP_CipherUpdate)(context, nullptr, &bytes, nullptr, int(message->plain.size()));
  if (!message->aad.empty())
    ok = ok && O(EVP_CipherUpdate)(context, nullptr, &bytes, message->aad.data(),
                                   int(message->aad.size()));
  // An empty text also needs an address.
  Bytes plain = message->plain;
  plain.push_back(0);
  ok = ok &&
       O(EVP_CipherUpdate)(context, message->cipher.data(), &bytes, plain.data(),
                           int(message->plain.size())) &&
       O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_GET_TAG, int(tag_bytes), message->tag.data());
  message->cipher.pop_back();
  O(EVP_CIPHER_CTX_free)(context);
  ASSERT_TRUE(ok) << take_error_texts();
}

Message make_message(Random &random, size_t bytes) {
  Message message;
  message.key = random_bytes(random, 32);
  message.iv = random_bytes(random, 7 + below(random, 7));
  message.aad = random_bytes(random, below(random, 3) == 0 ? 0 : below(random, 90));
  message.plain = random_bytes(random, bytes);
  return message;
}

size_t random_tag_bytes(Random &random) { return 4 + 2 * below(random, 7); }

size_t random_length(Random &random) {
  const size_t most[] = {3, 17, 64, 300, 1000, 2000};
  return 1 + below(random, most[below(random, 6)]);
}

const char *random_cipher(Random &random) { return kCcm[below(random, std::size(kCcm))]; }

Twins::Aliasing random_aliasing(Random &random) {
  return below(random, 3) == 0 ? Twins::Aliasing::kInPlace : Twins::Aliasing::kApart;
}

// begin_message() makes all calls of a message before its text, in the required order.
void begin_message(Twins &twins, const Message &message, bool encrypt, const Bytes &tag) {
  twins.set_iv_bytes(message.iv.size());
  twins.set_tag_bytes(tag.size());
  twins.init(message.key.data(), message.iv.data(), encrypt);
  if (!encrypt) twins.set_tag(tag);
  if (!message.aad.empty()) {
    twins.set_length(message.plain.size());
    twins.update_aad(message.aad);
  }
}

// run_message() returns whether its tag was wrong: the length of the next message must then be set.
bool run_message(Random &random, Library &library, Twins &twins, const char *cipher,
                 bool needs_length) {
  Message message = make_message(random, random_length(random));
  seal(library, cipher, &message, random_tag_bytes(random));
  const bool encrypt = below(random, 2) == 0, wrong = !encrypt && below(random, 4) == 0;
  Bytes tag = message.tag;
  if (wrong) tag[below(random, tag.size())] ^= uint8_t(1 << below(random, 8));
  begin_message(twins, message, encrypt, tag);
  if (message.aad.empty() && (needs_length || below(random, 2) == 0))
    twins.set_length(message.plain.size());
  if (below(random, 8) == 0) twins.duplicate();
  const Bytes &in = encrypt ? message.plain : message.cipher;
  const int done = below(random, 4) == 0
                       ? twins.at_once(in, random_aliasing(random), below(random, 16))
                       : twins.update(in, random_aliasing(random), below(random, 16));
  EXPECT_EQ(done > 0, !wrong);
  twins.read_parameters();
  if (below(random, 4) != 0) twins.finish();
  if (encrypt) twins.read_tag(tag.size());
  return wrong;
}

void run_case(Library &library, uint64_t seed) {
  Random random(seed);
  const char *cipher = random_cipher(random);
  Twins twins(library, cipher);
  bool was_wrong = false;
  for (size_t round = 0, rounds = 1 + below(random, 3); round < rounds; ++round)
    was_wrong = run_message(random, library, twins, cipher, was_wrong);
  EXPECT_TRUE(twins.is_whole()) << cipher << ", seed " << seed << ": " << twins.difference();
}

// run_disorder() makes any call after any other. Only after text that was refused the tag is not
// read, because OpenSSL's value is then meaningless.
void run_disorder(Library &library, uint64_t seed) {
  Random random(seed);
  const char *cipher = random_cipher(random);
  Twins twins(library, cipher);
  Message message = make_message(random, random_length(random));
  const size_t tag_bytes = random_tag_bytes(random);
  seal(library, cipher, &message, tag_bytes);
  const Bytes other_iv = random_bytes(random, 16), other_key = random_bytes(random, 32);
  // This is for a context with a longer IV length.
  Bytes longest_iv = message.iv;
  longest_iv.resize(16);
  bool encrypt = below(random, 2) == 0, was_refused = false;
  for (size_t call = 0, calls = 4 + below(random, 20); call < calls && twins.is_whole(); ++call) {
    const Bytes &in = encrypt ? message.plain : message.cipher;
    switch (below(random, 16)) {
      case 0:
        begin_message(twins, message, encrypt, message.tag);
        break;
      case 1:
        encrypt = below(random, 2) == 0;
        twins.init(below(random, 2) == 0 ? message.key.data() : nullptr,
                   below(random, 2) == 0 ? longest_iv.data() : nullptr, encrypt);
        break;
      case 2:
        twins.init(below(random, 2) == 0 ? other_key.data() : nullptr, other_iv.data(), encrypt);
        break;
      case 3:
        twins.set_iv_bytes(below(random, 3) == 0 ? 6 + below(random, 9) : message.iv.size());
        break;
      case 4:
        twins.set_tag_bytes(below(random, 3) == 0 ? below(random, 18) : tag_bytes);
        break;
      case 5:
      case 6:
        twins.set_tag(message.tag);
        break;
      case 7:
        twins.set_length(below(random, 4) == 0 ? in.size() + 1 : in.size());
        break;
      case 8:
        twins.update_aad(below(random, 3) == 0 ? other_iv : message.aad);
        break;
      case 9:
        if (!was_refused) twins.read_tag(below(random, 4) == 0 ? 16 : tag_bytes);
        break;
      case 10:
        twins.finish();
        break;
      case 11:
        twins.duplicate();
        break;
      case 12:
        was_refused = twins.update(in, Twins::Aliasing::kShifted, below(random, 16),
                                   1 + below(random, 40)) <= 0;
        break;
      case 13:
        was_refused = twins.at_once(in, random_aliasing(random), below(random, 16)) <= 0;
        break;
      default:
        was_refused = twins.update(in, random_aliasing(random), below(random, 16)) <= 0;
    }
    twins.read_parameters();
  }
  EXPECT_TRUE(twins.is_whole()) << cipher << ", seed " << seed << ": " << twins.difference();
}

class Ccm : public testing::Test {
 protected:
  Library library{{{"devices", devices_under_test()}, {"threshold_bytes", "0"}}};
  Random random{43};
  void SetUp() override {
    if (only_opengl_is_under_test()) GTEST_SKIP() << "OpenGL does no authenticated modes";
    ASSERT_TRUE(library.is_ready()) << library.errors();
  }
};

TEST_F(Ccm, MessagesDoWhatOpenSSLDoes) {
  for (uint64_t seed = 1; seed <= 400 && !HasFailure(); ++seed) run_case(library, seed);
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 300u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

TEST_F(Ccm, AnyOrderDoesWhatOpenSSLDoes) {
  for (uint64_t seed = 5000; seed < 6500 && !HasFailure(); ++seed) run_disorder(library, seed);
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 300u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

// Every length of text, with every length of nonce and tag.
TEST_F(Ccm, EveryLength) {
  Sample sample(11);
  for (const char *cipher : kCcm)
    for (size_t bytes = 0; bytes <= 1100; bytes += bytes < 100 ? 1 : 29)
      for (bool encrypt : {true, false}) {
        if (!sample.takes_next()) continue;
        Message message = make_message(random, bytes);
        message.iv = random_bytes(random, 7 + bytes % 7);
        seal(library, cipher, &message, 4 + 2 * (bytes / 7 % 7));
        Twins twins(library, cipher);
        for (const Twins::Aliasing aliasing :
             {Twins::Aliasing::kApart, Twins::Aliasing::kInPlace}) {
          begin_message(twins, message, encrypt, message.tag);
          EXPECT_EQ(twins.update(encrypt ? message.plain : message.cipher, aliasing, 0), 1);
          EXPECT_EQ(twins.finish(), 1);
          EXPECT_EQ(encrypt ? twins.read_tag(message.tag.size()) : 1, 1);
        }
        ASSERT_TRUE(twins.is_whole()) << cipher << " " << bytes << ": " << twins.difference();
      }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), is_scaled_down() ? 100u : 1000u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

// Additional data whose length field takes 2 bytes and 6, and text whose length just fits into 2
// bytes and just does not.
TEST_F(Ccm, Bounds) {
  for (const size_t bytes : {(1 << 16) - 1, 1 << 16}) {
    Message message = make_message(random, bytes);
    message.iv = random_bytes(random, 12);
    message.aad = random_bytes(random, bytes - 200);
    seal(library, "AES-128-CCM", &message, 16);
    for (const size_t iv_bytes : {size_t(12), size_t(13)}) {
      Twins twins(library, "AES-128-CCM");
      Message own = message;
      own.iv.resize(iv_bytes);
      begin_message(twins, own, true, own.tag);
      EXPECT_EQ(twins.update(own.plain, Twins::Aliasing::kApart, 0),
                iv_bytes == 13 && bytes == 1 << 16 ? 0 : 1);
      twins.read_tag(16);
      ASSERT_TRUE(twins.is_whole()) << bytes << ": " << twins.difference();
    }
    Twins twins(library, "AES-128-CCM");
    begin_message(twins, message, false, message.tag);
    EXPECT_EQ(twins.update(message.cipher, Twins::Aliasing::kApart, 0), 1);
    ASSERT_TRUE(twins.is_whole()) << bytes << ": " << twins.difference();
  }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 5u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

// A message is one chain. However long it is, OpenSSL processes it unless a device is forced.
TEST(CcmLarge, StaysOnTheCpu) {
  Library library(Settings{{"devices", "host"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Random random(9);
  for (const bool encrypt : {true, false}) {
    Message message = make_message(random, (5 << 18) + 13);
    message.iv.resize(12);
    seal(library, "AES-256-CCM", &message, 16);
    Twins twins(library, "AES-256-CCM");
    begin_message(twins, message, encrypt, message.tag);
    EXPECT_EQ(twins.update(encrypt ? message.plain : message.cipher, Twins::Aliasing::kApart, 0),
              1);
    EXPECT_EQ(encrypt ? twins.read_tag(16) : 1, 1);
    ASSERT_TRUE(twins.is_whole()) << twins.difference();
  }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
}

TEST(CcmLarge, RunsWithNoDevice) {
  Library library({{"devices", "none"}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  for (uint64_t seed = 77000; seed < 77200 && !HasFailure(); ++seed) run_case(library, seed);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
}

// With require_gpu, each text that is long enough runs on a device.
TEST(CcmLarge, RequireGpu) {
  Library library({{"devices", "host"}, {"threshold_bytes", "100"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  for (uint64_t seed = 1; seed < 150 && !HasFailure(); ++seed) run_case(library, seed);
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 50u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);

  Library without({{"devices", "none"}, {"threshold_bytes", "100"}, {"require_gpu", "yes"}});
  Random random(3);
  Message message = make_message(random, 200);
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  int bytes = 0;
  Bytes text = message.plain;
  EXPECT_EQ(O(EVP_CipherInit_ex2)(context, without.cipher("AES-128-CCM", "gpu"), message.key.data(),
                                  message.iv.data(), 1, nullptr),
            1);
  EXPECT_EQ(O(EVP_CipherUpdate)(context, text.data(), &bytes, text.data(), 200), 0);
  EXPECT_EQ(text, message.plain);
  O(EVP_CIPHER_CTX_free)(context);
  EXPECT_EQ(without.counter("lanecrypt.failures"), 1u);
  take_errors();
}

// OpenSSL processes whole TLS records.
TEST_F(Ccm, TlsRecords) {
  const Bytes key = random_bytes(random, 32), iv = random_bytes(random, 16),
              text = random_bytes(random, 8 + 600 + 16);
  Bytes records[2][2];
  std::vector<int> results[2];
  const char *const providers[2] = {"default", "gpu"};
  for (int side = 0; side < 2; ++side)
    for (int encrypt : {1, 0}) {
      Bytes record = encrypt == 1 ? text : records[side][1];
      EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
      const size_t told = 8 + 600 + (encrypt == 1 ? 0 : 16);
      uint8_t aad[13] = {0, 0, 0, 0, 0, 0, 0, 1, 23, 3, 3, uint8_t(told >> 8), uint8_t(told)};
      results[side].insert(
          results[side].end(),
          {O(EVP_CipherInit_ex2)(context, library.cipher("AES-128-CCM", providers[side]), nullptr,
                                 nullptr, encrypt, nullptr),
           O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_IVLEN, 12, nullptr),
           O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_TAG, 16, nullptr),
           O(EVP_CipherInit_ex2)(context, nullptr, key.data(), nullptr, encrypt, nullptr),
           O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_CCM_SET_IV_FIXED, 4,
                                  const_cast<uint8_t *>(iv.data())),
           O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_TLS1_AAD, 13, aad),
           O(EVP_Cipher)(context, record.data(), record.data(), unsigned(record.size()))});
      EXPECT_GT(results[side].back(), 0) << encrypt;
      O(EVP_CIPHER_CTX_free)(context);
      records[side][encrypt] = record;
    }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(records[0][1], records[1][1]);
  EXPECT_EQ(records[0][0], records[1][0]);
  EXPECT_NE(records[1][1], text);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  take_errors();
}

// The key comes together with the lengths, or before them. Both must behave as in OpenSSL.
TEST_F(Ccm, LengthsAfterTheKey) {
  for (const bool encrypt : {true, false}) {
    Message message = make_message(random, 500);
    seal(library, "AES-128-CCM", &message, 8);
    Twins twins(library, "AES-128-CCM");
    twins.init(message.key.data(), nullptr, encrypt);
    twins.set_iv_bytes(message.iv.size());
    twins.set_tag_bytes(8);
    twins.init(nullptr, message.iv.data(), -1);
    if (!encrypt) twins.set_tag(message.tag);
    twins.update(encrypt ? message.plain : message.cipher, Twins::Aliasing::kApart, 0);
    if (encrypt) twins.read_tag(8);
    ASSERT_TRUE(twins.is_whole()) << twins.difference();
  }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
}

}  // namespace
}  // namespace provider_test
