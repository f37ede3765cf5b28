// Makes random calls on messages of GCM and ChaCha20-Poly1305. The provider must behave like
// OpenSSL, wherever the threshold moves a message between the CPU and the device, and the device
// must have done its share.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "provider/cipher/sealed_message.h"
#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {
namespace {

// run_message() processes one message with both providers, in pieces of random lengths.
void run_message(Random &random, Twins &twins, const Message &message, bool encrypt) {
  const size_t tag_bytes = below(random, 3) == 0 ? 4 + below(random, 13) : 16;
  Bytes tag = slice(message.tag, 0, tag_bytes);
  const bool wrong = !encrypt && below(random, 4) == 0, early = below(random, 2) == 0;
  if (wrong) tag[below(random, tag_bytes)] ^= uint8_t(1 << below(random, 8));
  if (!encrypt && early) twins.set_tag(tag);
  for (size_t at = 0; at < message.aad.size();) {
    const size_t bytes = random_piece(random, message.aad.size() - at);
    twins.update_aad(slice(message.aad, at, bytes));
    at += bytes;
  }
  const Bytes &in = encrypt ? message.plain : message.cipher;
  const bool in_place = below(random, 3) == 0;
  for (size_t at = 0; at < in.size();) {
    const size_t bytes = random_piece(random, in.size() - at);
    const Twins::Aliasing aliasing = in_place ? Twins::Aliasing::kInPlace : Twins::Aliasing::kApart;
    if (below(random, 12) == 0)
      twins.at_once(slice(in, at, bytes), aliasing, below(random, 16));
    else
      twins.update(slice(in, at, bytes), aliasing, below(random, 16));
    at += bytes;
    if (below(random, 12) == 0) twins.duplicate();
    if (below(random, 6) == 0) twins.read_parameters();
  }
  if (!encrypt && !early) twins.set_tag(tag);
  EXPECT_EQ(twins.finish(), wrong ? 0 : 1);
  if (encrypt) twins.read_tag(tag_bytes);
  twins.read_parameters();
}

void run_case(Library &library, uint64_t seed) {
  Random random(seed);
  const char *cipher = kAuthenticated[below(random, kAuthenticatedCount)];
  Twins twins(library, cipher);
  Bytes key;
  for (size_t round = 0, rounds = 1 + below(random, 3); round < rounds; ++round) {
    Message message = make_message(random, cipher, random_piece(random, 2000) * 3);
    const bool keeps_key = !key.empty() && below(random, 2) == 0;
    if (keeps_key) message.key = key;
    key = message.key;
    seal(library, cipher, &message);
    const bool encrypt = below(random, 2) == 0;
    twins.set_iv_bytes(message.iv.size());
    if (below(random, 3) == 0 && !keeps_key) {
      // The key and the IV are set one after the other.
      twins.init(message.key.data(), nullptr, encrypt);
      twins.init(nullptr, message.iv.data(), -1);
    } else {
      const bool tells_key = !keeps_key || below(random, 2) == 0;
      twins.init(tells_key ? message.key.data() : nullptr, message.iv.data(), encrypt);
    }
    run_message(random, twins, message, encrypt);
    // An unfinished message must not affect the next one.
    if (below(random, 3) == 0) {
      twins.init(nullptr, message.iv.data(), 1);
      twins.update(random_bytes(random, random_piece(random, 900)), Twins::Aliasing::kApart, 0);
    }
  }
  EXPECT_TRUE(twins.is_whole()) << cipher << ", seed " << seed << ": " << twins.difference();
}

// init_with_long_tag() initialises with a tag that is refused. What precedes the parameters is
// still accepted.
void init_with_long_tag(Twins &twins, const uint8_t *iv, bool encrypt) {
  uint8_t tag[17] = {};
  const OSSL_PARAM params[] = {
      {OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, tag, sizeof tag, OSSL_PARAM_UNMODIFIED},
      OSSL_PARAM_END};
  EXPECT_EQ(twins.init(nullptr, iv, encrypt, params), 0);
}

// run_disorder() makes any call after any other, but none after a wrong tag: there OpenSSL
// continues with text that it has refused.
void run_disorder(Library &library, uint64_t seed) {
  Random random(seed);
  const char *cipher = kAuthenticated[below(random, kAuthenticatedCount)];
  Message message = make_message(random, cipher, random_piece(random, 900));
  seal(library, cipher, &message);
  const Bytes other_key = random_bytes(random, 32), longest_iv = random_bytes(random, 128);
  Twins twins(library, cipher);
  bool encrypt = below(random, 2) == 0, has_text = false, has_tag = false;
  const auto begin = [&] {
    has_text = false;
    twins.set_iv_bytes(message.iv.size());
    twins.init(message.key.data(), message.iv.data(), encrypt);
  };
  begin();
  for (size_t call = 0, calls = 4 + below(random, 20); call < calls && twins.is_whole(); ++call) {
    const Bytes &in = encrypt ? message.plain : message.cipher;
    switch (below(random, 16)) {
      case 0:
        begin();
        break;
      case 1:
        encrypt = !encrypt;
        twins.init(nullptr, below(random, 2) == 0 ? longest_iv.data() : nullptr, encrypt);
        break;
      case 2:
        twins.init(below(random, 2) == 0 ? other_key.data() : nullptr, longest_iv.data(), encrypt);
        break;
      case 3:
        twins.set_iv_bytes(below(random, 2) == 0 ? 12 : message.iv.size());
        break;
      case 4:
        // When encrypting, OpenSSL refuses it, and yet keeps it as the tag that it has computed.
        if (!encrypt) {
          twins.set_tag(slice(message.tag, 0, below(random, 2) == 0 ? 16 : 12));
          has_tag = true;
        }
        break;
      case 5:
        // OpenSSL accepts it then, and the provider does not
        if (has_text && !is_gcm(cipher)) break;
        twins.update_aad(below(random, 2) == 0 ? message.aad : slice(longest_iv, 0, 20));
        break;
      case 6:
      case 7:
      case 8:
        twins.update(in, Twins::Aliasing::kApart, below(random, 16));
        has_text = true;
        break;
      case 9:
      case 10:
        if (twins.finish() > 0)
          has_tag |= encrypt;
        else if (has_tag || !is_gcm(cipher))
          begin();  // GCM's final call before a tag is set ends nothing
        break;
      case 11:
        twins.read_tag(16);
        break;
      case 12:
        twins.duplicate();
        break;
      case 13:
        // Without a fixed part GCM generates no IV. ChaCha20-Poly1305 does not know the command.
        twins.control(below(random, 2) == 0 ? EVP_CTRL_GCM_IV_GEN : EVP_CTRL_GCM_SET_IV_INV, 8);
        break;
      case 14:
        init_with_long_tag(twins, below(random, 3) == 0 ? longest_iv.data() : nullptr, encrypt);
        break;
      case 15:
        twins.init(below(random, 2) == 0 ? other_key.data() : message.key.data(), nullptr, encrypt);
        break;
    }
  }
  EXPECT_TRUE(twins.is_whole()) << cipher << ", seed " << seed << ": " << twins.difference();
}

class AuthenticatedStreams : public testing::TestWithParam<const char *> {};

TEST_P(AuthenticatedStreams, DoWhatOpenSSLDoes) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", GetParam()}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const uint64_t first = 1000 * std::strtoull(GetParam(), nullptr, 10);
  for (uint64_t seed = first; seed < first + 250 && !HasFailure(); ++seed) run_case(library, seed);
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 100u);
  EXPECT_GT(library.counter("lanecrypt.cpu-jobs"), 100u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

TEST_P(AuthenticatedStreams, DoWhatOpenSSLDoesInAnyOrder) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", GetParam()}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const uint64_t first = 1000 * std::strtoull(GetParam(), nullptr, 10);
  for (uint64_t seed = first; seed < first + 400 && !HasFailure(); ++seed)
    run_disorder(library, seed);
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 100u);
}

INSTANTIATE_TEST_SUITE_P(Thresholds, AuthenticatedStreams, testing::Values("0", "64", "300"));

TEST(AuthenticatedRandom, RunWithNoDevice) {
  Library library({{"devices", "none"}, {"threshold_bytes", "0"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  for (uint64_t seed = 77000; seed < 77200 && !HasFailure(); ++seed) run_case(library, seed);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
}

// With require_gpu, a device processes all of a message, except for requests that no device
// accepts.
TEST(AuthenticatedRandom, RequireGpu) {
  Library library({{"devices", "host"}, {"threshold_bytes", "100"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  for (uint64_t seed = 1; seed < 60 && !HasFailure(); ++seed) run_case(library, seed);
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 50u);
}

}  // namespace
}  // namespace provider_test
