// Tests calls that OpenSSL refuses, or does not know and ignores, in the middle of a message of
// which a device has processed a part. OpenSSL's context has not processed that part. It must not
// start again there, with the counters that the device has used.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "provider/cipher/sealed_message.h"
#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {
namespace {

constexpr size_t kText = 4000;
// The lengths in bytes of a message's text and of its first part, which always goes to a device.
constexpr size_t kFirst = 1000;

OSSL_PARAM tag_param(Bytes &tag) {
  return {OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, tag.data(), tag.size(),
          OSSL_PARAM_UNMODIFIED};
}

class RefusedCalls : public testing::Test {
 protected:
  // With this threshold OpenSSL processes small updates, and a device large ones.
  Library library{{{"devices", devices_under_test()}, {"threshold_bytes", "500"}}};
  Random random{77};
  void SetUp() override {
    if (only_opengl_is_under_test()) GTEST_SKIP() << "OpenGL does no authenticated modes";
    ASSERT_TRUE(library.is_ready()) << library.errors();
  }

  // run_with() runs a message of which a device has processed the first part, with `call` in
  // between.
  void run_with(const char *cipher, bool encrypt, bool small,
                const std::function<void(Twins &, const Message &)> &call) {
    Message message = make_message(random, cipher, kText);
    if (below(random, 2) == 0) message.aad.clear();
    seal(library, cipher, &message);
    const Bytes &in = encrypt ? message.plain : message.cipher;
    Twins twins(library, cipher);
    twins.set_iv_bytes(message.iv.size());
    twins.init(message.key.data(), message.iv.data(), encrypt);
    if (!message.aad.empty()) twins.update_aad(message.aad);
    const uint64_t jobs = library.counter("lanecrypt.device-jobs");
    twins.update(slice(in, 0, kFirst), Twins::Aliasing::kApart, 0);
    EXPECT_EQ(library.counter("lanecrypt.device-jobs"), jobs + 1) << cipher;
    call(twins, message);
    const size_t next = small ? 100 : 2000;
    EXPECT_EQ(twins.update(slice(in, kFirst, next), Twins::Aliasing::kApart, 0), 1);
    twins.update(slice(in, kFirst + next, kText - kFirst - next), Twins::Aliasing::kApart, 0);
    if (!encrypt) twins.set_tag(message.tag);
    EXPECT_EQ(twins.finish(), 1) << cipher;
    if (encrypt) twins.read_tag(16);
    EXPECT_TRUE(twins.is_whole()) << cipher << (encrypt ? " encrypt" : " decrypt")
                                  << (small ? ", small: " : ", large: ") << twins.difference();
  }
  void run_all(const std::function<void(Twins &, const Message &, bool encrypt)> &call) {
    for (const char *cipher : kAuthenticated)
      for (const bool encrypt : {true, false})
        for (const bool small : {true, false})
          run_with(cipher, encrypt, small,
                   [&](Twins &twins, const Message &message) { call(twins, message, encrypt); });
    EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
  }

  // begin_alone() begins a decryption with our provider only, of which a device has processed the
  // first part.
  EVP_CIPHER_CTX *begin_alone(const char *cipher, const Message &message) {
    EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
    EXPECT_EQ(O(EVP_CipherInit_ex2)(context, library.cipher(cipher, "gpu"), message.key.data(),
                                    message.iv.data(), 0, nullptr),
              1);
    const uint64_t jobs = library.counter("lanecrypt.device-jobs");
    EXPECT_EQ(update_alone(context, message, 0, kFirst), 1);
    EXPECT_EQ(library.counter("lanecrypt.device-jobs"), jobs + 1);
    return context;
  }
  int update_alone(EVP_CIPHER_CTX *context, const Message &message, size_t at, size_t bytes) {
    Bytes out(bytes);
    int written = 0;
    const int done =
        O(EVP_CipherUpdate)(context, out.data(), &written, message.cipher.data() + at, int(bytes));
    EXPECT_TRUE(done != 1 || out == slice(message.plain, at, bytes));
    return done;
  }
  int finish_alone(EVP_CIPHER_CTX *context, Bytes tag) {
    uint8_t nothing[16];
    int written = 0;
    EXPECT_EQ(O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_TAG, int(tag.size()), tag.data()),
              1);
    return O(EVP_CipherFinal_ex)(context, nothing, &written);
  }
  // expect_ended() checks that everything is refused, in a copy too, until there is a new IV.
  void expect_ended(EVP_CIPHER_CTX *context, const Message &message) {
    EVP_CIPHER_CTX *copy = O(EVP_CIPHER_CTX_new)();
    EXPECT_EQ(O(EVP_CIPHER_CTX_copy)(copy, context), 1);
    for (EVP_CIPHER_CTX *one : {copy, context}) {
      EXPECT_EQ(update_alone(one, message, 0, 100), 0);
      EXPECT_EQ(update_alone(one, message, 0, kFirst), 0);
      EXPECT_EQ(O(EVP_CipherInit_ex2)(one, nullptr, message.key.data(), nullptr, 0, nullptr), 1);
      EXPECT_EQ(update_alone(one, message, 0, 100), 0);
      EXPECT_EQ(finish_alone(one, message.tag), 0);
      EXPECT_EQ(O(EVP_CipherInit_ex2)(one, nullptr, nullptr, message.iv.data(), 0, nullptr), 1);
      EXPECT_EQ(update_alone(one, message, 0, kText), 1);
      EXPECT_EQ(finish_alone(one, message.tag), 1);
      O(EVP_CIPHER_CTX_free)(one);
    }
    take_errors();
  }
  // plain_message() returns a message without additional data, and with an IV of the usual length.
  Message plain_message(const char *cipher) {
    Message message = make_message(random, cipher, kText);
    message.iv = random_bytes(random, 12);
    message.aad.clear();
    seal(library, cipher, &message);
    return message;
  }
};

// No fixed part of an IV was set, so GCM refuses both. ChaCha20-Poly1305 accepts both and does
// nothing.
TEST_F(RefusedCalls, AnIvIsAskedForInTheMidst) {
  for (const int command : {EVP_CTRL_GCM_IV_GEN, EVP_CTRL_GCM_SET_IV_INV})
    run_all([&](Twins &twins, const Message &, bool) { twins.control(command, 8); });
}

TEST_F(RefusedCalls, AnInitInTheMidstIsRefused) {
  for (const size_t bytes : {16u, 17u}) {
    Bytes tag(bytes);
    const OSSL_PARAM params[] = {tag_param(tag), OSSL_PARAM_END};
    run_all([&](Twins &twins, const Message &, bool encrypt) {
      EXPECT_EQ(twins.init(nullptr, nullptr, -1, params), bytes == 17 || encrypt ? 0 : 1);
    });
  }
}

// The IV that came with the refused parameter is accepted: the message begins with it.
TEST_F(RefusedCalls, AnInitWithAnIvIsRefused) {
  Bytes tag(17);
  const OSSL_PARAM params[] = {tag_param(tag), OSSL_PARAM_END};
  for (const bool with_key : {true, false})
    run_all([&](Twins &twins, const Message &message, bool encrypt) {
      EXPECT_EQ(twins.init(nullptr, Bytes(128, 7).data(), -1), 1);
      twins.update(slice(message.plain, 0, kFirst), Twins::Aliasing::kApart, 0);
      EXPECT_EQ(twins.init(with_key ? message.key.data() : nullptr, message.iv.data(), -1, params),
                0);
      if (!message.aad.empty()) twins.update_aad(message.aad);
      const Bytes &in = encrypt ? message.plain : message.cipher;
      twins.update(slice(in, 0, kFirst), Twins::Aliasing::kApart, 0);
    });
}

// As in OpenSSL, GCM continues without a counter, and ChaCha20-Poly1305 begins again.
TEST_F(RefusedCalls, AKeyComesWithoutAnIv) {
  for (const char *cipher : kAuthenticated)
    for (const bool other : {true, false})
      for (const bool small : {true, false})
        for (const bool with_aad : {true, false}) {
          const Bytes key = random_bytes(random, 32), iv = random_bytes(random, 12),
                      other_key = random_bytes(random, 32), text = random_bytes(random, kFirst);
          Twins twins(library, cipher);
          twins.init(key.data(), iv.data(), 1);
          if (with_aad) twins.update_aad(slice(text, 0, 20));
          twins.update(text, Twins::Aliasing::kApart, 0);
          twins.init(other ? other_key.data() : key.data(), nullptr, 1);
          twins.update(slice(text, 0, small ? 100 : kFirst), Twins::Aliasing::kApart, 0);
          EXPECT_EQ(twins.finish(), 1);
          twins.read_tag(16);
          ASSERT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
        }
  EXPECT_GE(library.counter("lanecrypt.device-jobs"), 32u);
}

// OpenSSL may continue with text that it has refused. The provider does not, but neither of them
// starts again.
TEST_F(RefusedCalls, TextComesAfterAWrongTag) {
  for (const char *cipher : {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"}) {
    const Message message = plain_message(cipher);
    EVP_CIPHER_CTX *context = begin_alone(cipher, message);
    Bytes tag = message.tag;
    tag[3] ^= 1;
    EXPECT_EQ(finish_alone(context, tag), 0);
    expect_ended(context, message);
  }
}

// It is not known which of several parameters OpenSSL's context has accepted, so its IV is not
// known.
TEST_F(RefusedCalls, OneOfSeveralParametersIsRefused) {
  for (const char *cipher : kAuthenticated) {
    const Message message = plain_message(cipher);
    EVP_CIPHER_CTX *context = begin_alone(cipher, message);
    size_t iv_bytes = 12;
    Bytes tag(17);
    const OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_AEAD_IVLEN, OSSL_PARAM_UNSIGNED_INTEGER,
                                  &iv_bytes, sizeof iv_bytes, OSSL_PARAM_UNMODIFIED},
                                 tag_param(tag),
                                 OSSL_PARAM_END};
    EXPECT_EQ(O(EVP_CIPHER_CTX_set_params)(context, params), 0);
    expect_ended(context, message);
  }
}

// The IV is accepted whatever is refused with it, and the next key begins with it.
TEST(RefusedStreams, AnIvComesWithARefusedParameter) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", "500"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Random random(78);
  char wrong[] = "zz";
  const OSSL_PARAM params[] = {
      {OSSL_CIPHER_PARAM_PADDING, OSSL_PARAM_UTF8_STRING, wrong, 2, OSSL_PARAM_UNMODIFIED},
      OSSL_PARAM_END};
  for (const char *cipher : {"AES-128-CBC", "AES-256-CBC", "AES-128-CFB", "AES-256-CFB"})
    for (const bool with_key : {true, false}) {
      const Bytes key = random_bytes(random, 32), other_key = random_bytes(random, 32),
                  iv = random_bytes(random, 16), other_iv = random_bytes(random, 16),
                  text = random_bytes(random, 4096);
      Twins twins(library, cipher);
      twins.init(key.data(), iv.data(), 0);
      EXPECT_EQ(twins.update(text, Twins::Aliasing::kApart, 0), 1);
      EXPECT_EQ(twins.init(with_key ? key.data() : nullptr, other_iv.data(), 0, params), 0);
      EXPECT_EQ(twins.init(other_key.data(), nullptr, 0), 1);
      EXPECT_EQ(twins.update(text, Twins::Aliasing::kApart, 0), 1);
      twins.read_parameters();
      EXPECT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
    }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 16u);
}

}  // namespace
}  // namespace provider_test
