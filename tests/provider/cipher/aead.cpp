// Tests streams of GCM and ChaCha20-Poly1305, case by case: lengths, tags, keys and IVs set in
// every order that programs use, counters that wrap, TLS. Random calls are in random_messages.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/aead/gf128.h"
#include "provider/cipher/sealed_message.h"
#include "provider/provider_under_test.h"
#include "provider/random_input.h"
#include "test_scale.h"

namespace provider_test {
namespace {

class Authenticated : public testing::Test {
 protected:
  Library library{{{"devices", devices_under_test()}, {"threshold_bytes", "0"}}};
  Random random{42};
  void SetUp() override {
    if (only_opengl_is_under_test()) GTEST_SKIP() << "OpenGL does no authenticated modes";
    ASSERT_TRUE(library.is_ready()) << library.errors();
  }
};

// Every length of text, in one piece and in two.
TEST_F(Authenticated, EveryLength) {
  Sample sample(5);
  for (const char *cipher : kAuthenticated)
    for (size_t bytes = 0; bytes <= 1100; bytes += bytes < 150 ? 1 : 17)
      for (bool encrypt : {true, false}) {
        if (!sample.takes_next()) continue;
        Message message = make_message(random, cipher, bytes);
        seal(library, cipher, &message);
        const Bytes &in = encrypt ? message.plain : message.cipher;
        Twins twins(library, cipher);
        twins.set_iv_bytes(message.iv.size());
        for (size_t first : {bytes, below(random, bytes + 1)}) {
          twins.init(message.key.data(), message.iv.data(), encrypt);
          twins.update_aad(message.aad);
          twins.update(slice(in, 0, first), Twins::Aliasing::kApart, 0);
          twins.update(slice(in, first, bytes - first), Twins::Aliasing::kInPlace, 0);
          if (!encrypt) twins.set_tag(message.tag);
          EXPECT_EQ(twins.finish(), 1);
          if (encrypt) twins.read_tag(16);
        }
        ASSERT_TRUE(twins.is_whole()) << cipher << " " << bytes << ": " << twins.difference();
      }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), is_scaled_down() ? 400u : 1000u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

// The length of the IV is set repeatedly, before, between and within messages: unchanged, changed,
// and invalid.
TEST_F(Authenticated, LengthsOfIvsToldAgain) {
  const size_t lengths[] = {12, 12, 12, 12, 16, 7, 0, 129};
  const Bytes key = random_bytes(random, 32), iv = random_bytes(random, 256);
  for (const char *cipher : kAuthenticated)
    for (int run = 0; run < 60; ++run) {
      Twins twins(library, cipher);
      const auto tell = [&] {
        for (size_t times = below(random, 3); times > 0; --times)
          twins.set_iv_bytes(lengths[below(random, std::size(lengths))]);
      };
      for (int message = 0; message < 4; ++message) {
        const Bytes text = random_bytes(random, random_piece(random, 900));
        tell();
        // If no IV was ever set, OpenSSL generates a random one.
        twins.init(message == 0 || below(random, 2) == 0 ? key.data() : nullptr,
                   message > 0 && below(random, 4) == 0 ? nullptr : iv.data(), 1);
        tell();
        twins.update(text, Twins::Aliasing::kApart, 0);
        tell();
        twins.update(text, Twins::Aliasing::kInPlace, 0);
        twins.finish();
        tell();
        twins.read_tag(16);
        twins.read_parameters();
      }
      ASSERT_TRUE(twins.is_whole()) << cipher << " " << run << ": " << twins.difference();
    }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 100u);
}

// A GCM context that is switched to decryption compares with the tag that it has computed, until a
// tag is set. That must be the tag of this text, not of the part that OpenSSL's context has
// processed.
TEST_F(Authenticated, DecryptionIsToldNoTag) {
  for (const char *cipher : kAuthenticated)
    for (const size_t bytes : {8u, 16u, 100u, 4096u})  // the first has no block for a device
      for (const bool forged : {false, true}) {
        Message message = make_message(random, cipher, bytes);
        seal(library, cipher, &message);
        if (forged) message.cipher[below(random, bytes)] ^= 1;
        Twins twins(library, cipher);
        twins.set_iv_bytes(message.iv.size());
        twins.init(message.key.data(), message.iv.data(), 1);
        twins.update_aad(message.aad);
        twins.update(message.plain, Twins::Aliasing::kApart, 0);
        EXPECT_EQ(twins.finish(), 1);
        twins.init(nullptr, message.iv.data(), 0);
        twins.update_aad(message.aad);
        twins.update(message.cipher, Twins::Aliasing::kApart, 0);
        const int done = twins.finish();
        if (is_gcm(cipher)) {
          EXPECT_EQ(done, forged ? 0 : 1) << cipher << " " << bytes;
        }
        twins.init(nullptr, message.iv.data(), 1);
        twins.read_tag(16);
        ASSERT_TRUE(twins.is_whole()) << cipher << " " << bytes << ": " << twins.difference();
      }
  EXPECT_GE(library.counter("lanecrypt.device-jobs"), 40u);
}

// The final call of a decryption is refused if no tag is set, and does not end the message.
TEST_F(Authenticated, TheTagComesAfterARefusedEnd) {
  for (const char *cipher : {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"}) {
    Message message = make_message(random, cipher, 1000);
    seal(library, cipher, &message);
    Twins twins(library, cipher);
    twins.set_iv_bytes(message.iv.size());
    twins.init(message.key.data(), message.iv.data(), 0);
    twins.update_aad(message.aad);
    twins.update(slice(message.cipher, 0, 600), Twins::Aliasing::kApart, 0);
    EXPECT_EQ(twins.finish(), 0);
    twins.update(slice(message.cipher, 600, 400), Twins::Aliasing::kApart, 0);
    EXPECT_EQ(twins.finish(), 0);
    twins.set_tag(message.tag);
    EXPECT_EQ(twins.finish(), 1);
    ASSERT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
  }
  EXPECT_GE(library.counter("lanecrypt.device-jobs"), 3u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

// A key is set with each message: unchanged, and with one bit of any byte changed.
TEST_F(Authenticated, KeysThatNearlyAgree) {
  const Bytes iv = random_bytes(random, 12), text = random_bytes(random, 100);
  for (const char *cipher : kAuthenticated) {
    Bytes key = random_bytes(random, 32);
    Twins twins(library, cipher);
    for (size_t message = 0; message < 2 * key.size(); ++message) {
      if (message % 2 == 1) key[message / 2] ^= uint8_t(1 << below(random, 8));
      twins.init(key.data(), iv.data(), int(below(random, 2)));
      twins.update(text, Twins::Aliasing::kApart, 0);
      if (message % 7 == 0) twins.init(key.data(), nullptr, 1);
      twins.finish();
    }
    ASSERT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
  }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 100u);
}

// iv_of() returns an IV of 16 bytes with which GCM's first counter block is `start`.
Bytes iv_of(Library &library, const Bytes &key, const Block &start) {
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  Block block = {};
  int bytes = 0;
  uint8_t *h_bytes = reinterpret_cast<uint8_t *>(&block);
  EXPECT_EQ(O(EVP_CipherInit_ex2)(context, library.cipher("AES-128-ECB", "default"), key.data(),
                                  nullptr, 1, nullptr),
            1);
  EXPECT_EQ(O(EVP_CipherUpdate)(context, h_bytes, &bytes, h_bytes, 16), 1);
  O(EVP_CIPHER_CTX_free)(context);
  // The inverse of H is H to the power 2^128 - 2.
  Gf128 power = gf128_of_block(block), inverse = gf128_one();
  for (int n = 1; n < 128; ++n) {
    power = gf128_square(power);
    inverse = gf128_multiply(inverse, power);
  }
  const Block lengths = {{0, 0, 0, 0x80000000u}};  // the length of the IV: 128 bits
  Gf128 iv = gf128_add(gf128_multiply(gf128_of_block(start), inverse), gf128_of_block(lengths));
  block = gf128_to_block(gf128_multiply(iv, inverse));
  Bytes out(16);
  std::memcpy(out.data(), &block, 16);
  return out;
}

// GCM's counter of 32 bits wraps: on the device, on the CPU after it, and at the boundary between
// them.
TEST_F(Authenticated, CounterWraps) {
  Library with_threshold({{"devices", devices_under_test()}, {"threshold_bytes", "200"}});
  for (uint32_t blocks = 1; blocks < 60; blocks += blocks < 20 ? 1 : 7)
    for (Library *used : {&library, &with_threshold}) {
      const uint32_t counter = 0u - blocks;
      const uint8_t ends[4] = {uint8_t(counter >> 24), uint8_t(counter >> 16),
                               uint8_t(counter >> 8), uint8_t(counter)};
      Block start = {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0}};
      std::memcpy(&start.w[3], ends, 4);
      Message message = make_message(random, "AES-128-GCM", 900);
      message.iv = iv_of(library, message.key, start);
      seal(library, "AES-128-GCM", &message);
      for (bool encrypt : {true, false}) {
        const Bytes &in = encrypt ? message.plain : message.cipher;
        Twins twins(*used, "AES-128-GCM");
        twins.set_iv_bytes(16);
        twins.init(message.key.data(), message.iv.data(), encrypt);
        twins.update_aad(message.aad);
        size_t at = 0;
        for (size_t bytes : {7, 250, 14, 150, 199, 280}) {
          twins.update(slice(in, at, bytes), Twins::Aliasing::kApart, 0);
          at += bytes;
        }
        if (!encrypt) twins.set_tag(message.tag);
        EXPECT_EQ(twins.finish(), 1);
        if (encrypt) twins.read_tag(16);
        ASSERT_TRUE(twins.is_whole()) << blocks << ": " << twins.difference();
      }
    }
  EXPECT_GE(with_threshold.counter("lanecrypt.device-jobs"), 100u);
}

// Requests of realistic size, at the default threshold.
TEST(AuthenticatedLarge, CarryMegabytes) {
  if (only_opengl_is_under_test()) GTEST_SKIP() << "OpenGL does no authenticated modes";
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", "1M"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Random random(9);
  uint64_t jobs = 0;
  for (const char *cipher : kAuthenticated)
    for (bool encrypt : {true, false}) {
      const size_t sizes[] = {1000, (1 << 20) - 1, 7, 1 << 20, (5 << 18) + 13, 100000};
      Message message = make_message(random, cipher, 0);
      size_t all = 0;
      for (size_t bytes : sizes) all += bytes;
      message.plain = random_bytes(random, all);
      seal(library, cipher, &message);
      Twins twins(library, cipher);
      twins.set_iv_bytes(message.iv.size());
      twins.init(message.key.data(), message.iv.data(), encrypt);
      twins.update_aad(message.aad);
      if (!encrypt) twins.set_tag(message.tag);
      size_t at = 0;
      for (size_t bytes : sizes) {
        twins.update(slice(encrypt ? message.plain : message.cipher, at, bytes),
                     bytes == 1 << 20 ? Twins::Aliasing::kInPlace : Twins::Aliasing::kApart, 1);
        at += bytes;
        jobs += bytes >= 1 << 20;
      }
      EXPECT_EQ(twins.finish(), 1);
      if (encrypt) twins.read_tag(16);
      ASSERT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
    }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), jobs);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

// OpenSSL processes whole TLS records, and generates their IVs.
TEST_F(Authenticated, TlsRecords) {
  for (const char *name : {"AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"}) {
    const size_t explicit_bytes = is_gcm(name) ? 8 : 0, text_bytes = 600;
    const Bytes key = random_bytes(random, 32), iv = random_bytes(random, 12),
                text = random_bytes(random, explicit_bytes + text_bytes + 16);
    Bytes records[2][2];
    std::vector<int> results[2];
    const char *const providers[2] = {"default", "gpu"};
    for (int side = 0; side < 2; ++side)
      for (int encrypt : {1, 0}) {
        Bytes record = encrypt == 1 ? text : records[side][1];
        EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
        const size_t told = explicit_bytes + text_bytes + (encrypt == 1 ? 0 : 16);
        uint8_t aad[13] = {0, 0, 0, 0, 0, 0, 0, 1, 23, 3, 3, uint8_t(told >> 8), uint8_t(told)};
        int bytes = 0;
        results[side].insert(
            results[side].end(),
            {O(EVP_CipherInit_ex2)(context, library.cipher(name, providers[side]), key.data(),
                                   iv.data(), encrypt, nullptr),
             // -1 sets the whole IV, so that nothing is random
             O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_IV_FIXED, is_gcm(name) ? -1 : 12,
                                    const_cast<uint8_t *>(iv.data())),
             O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_TLS1_AAD, 13, aad),
             O(EVP_CipherUpdate)(context, record.data(), &bytes, record.data(), int(record.size())),
             bytes});
        EXPECT_EQ(results[side][results[side].size() - 2], 1) << name << encrypt;
        O(EVP_CIPHER_CTX_free)(context);
        records[side][encrypt] = record;
      }
    EXPECT_EQ(results[0], results[1]) << name;
    EXPECT_EQ(records[0][1], records[1][1]) << name;
    EXPECT_EQ(records[0][0], records[1][0]) << name;
    EXPECT_NE(records[1][1], text) << name;
  }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  take_errors();
}

// After an IV that OpenSSL has generated, OpenSSL processes the following messages itself.
TEST_F(Authenticated, GeneratedIv) {
  const Bytes key = random_bytes(random, 16), text = random_bytes(random, 500);
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  Bytes out(500), back(500), tag(16), iv(12);
  int bytes = 0;
  ASSERT_EQ(O(EVP_CipherInit_ex2)(context, library.cipher("AES-128-GCM", "gpu"), key.data(),
                                  nullptr, 1, nullptr),
            1);
  EXPECT_EQ(O(EVP_CipherUpdate)(context, out.data(), &bytes, text.data(), 500), 1);
  EXPECT_EQ(O(EVP_CipherFinal_ex)(context, tag.data(), &bytes), 1);
  EXPECT_EQ(O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_GET_TAG, 16, tag.data()), 1);
  EXPECT_EQ(O(EVP_CIPHER_CTX_get_updated_iv)(context, iv.data(), 12), 1);
  ASSERT_EQ(O(EVP_CipherInit_ex2)(context, library.cipher("AES-128-GCM", "gpu"), key.data(),
                                  iv.data(), 0, nullptr),
            1);
  EXPECT_EQ(O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_TAG, 16, tag.data()), 1);
  EXPECT_EQ(O(EVP_CipherUpdate)(context, back.data(), &bytes, out.data(), 500), 1);
  EXPECT_EQ(O(EVP_CipherFinal_ex)(context, tag.data(), &bytes), 1);
  EXPECT_EQ(back, text);
  O(EVP_CIPHER_CTX_free)(context);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);  // with the IV that was set
}

// Additional data after the text are refused, wherever the text was processed.
TEST_F(Authenticated, AdditionalDataComeFirst) {
  for (size_t bytes : {size_t(5), size_t(500)}) {
    Message message = make_message(random, "AES-256-GCM", bytes);
    Twins twins(library, "AES-256-GCM");
    twins.set_iv_bytes(message.iv.size());
    twins.init(message.key.data(), message.iv.data(), 1);
    twins.update(message.plain, Twins::Aliasing::kApart, 0);
    EXPECT_EQ(twins.update_aad({1, 2, 3}), 0);
    EXPECT_EQ(twins.finish(), 1);
    twins.read_tag(16);
    // GCM allows no second message under an IV.
    EXPECT_EQ(twins.update(message.plain, Twins::Aliasing::kApart, 0), 0);
    EXPECT_EQ(twins.finish(), 0);
    ASSERT_TRUE(twins.is_whole()) << bytes << ": " << twins.difference();
  }
}

// EVP sets the padding of ciphers of every mode. Other parameters in the same call are still
// applied.
TEST_F(Authenticated, PaddingIsNoMatter) {
  for (const char *name : kAuthenticated)
    for (const bool wrong : {false, true}) {
      Message message = make_message(random, name, 500);
      seal(library, name, &message);
      if (wrong) message.tag[7] ^= 1;
      unsigned padding = 0;
      const OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_PADDING, OSSL_PARAM_UNSIGNED_INTEGER,
                                    &padding, sizeof padding, OSSL_PARAM_UNMODIFIED},
                                   {OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING,
                                    message.tag.data(), message.tag.size(), OSSL_PARAM_UNMODIFIED},
                                   OSSL_PARAM_END};
      EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
      Bytes text(message.cipher.size());
      int bytes = 0;
      EXPECT_EQ(
          O(EVP_CipherInit_ex2)(context, library.cipher(name, "gpu"), nullptr, nullptr, 0, nullptr),
          1);
      EXPECT_EQ(O(EVP_CIPHER_CTX_set_padding)(context, 0), 1);
      EXPECT_GT(
          O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_IVLEN, int(message.iv.size()), nullptr),
          0);
      EXPECT_EQ(O(EVP_CipherInit_ex2)(context, nullptr, message.key.data(), message.iv.data(), 0,
                                      nullptr),
                1);
      EXPECT_EQ(O(EVP_CIPHER_CTX_set_params)(context, params), 1);
      if (!message.aad.empty()) {
        EXPECT_EQ(O(EVP_CipherUpdate)(context, nullptr, &bytes, message.aad.data(),
                                      int(message.aad.size())),
                  1);
      }
      EXPECT_EQ(O(EVP_CipherUpdate)(context, text.data(), &bytes, message.cipher.data(),
                                    int(message.cipher.size())),
                1);
      EXPECT_EQ(text, message.plain);
      EXPECT_EQ(O(EVP_CipherFinal_ex)(context, text.data(), &bytes), wrong ? 0 : 1) << name;
      O(EVP_CIPHER_CTX_free)(context);
      take_errors();
    }
}

}  // namespace
}  // namespace provider_test
