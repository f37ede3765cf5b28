// Tests the longest text of a message, whose last blocks have the last counters. One byte more is
// refused, wherever the message was processed. The test sets the position after 64 or 256 GiB
// directly in the provider's state.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/core_dispatch.h>
#include <openssl/proverr.h>

#include <cstring>

#include "kernels/aead/gf128.h"
#include "provider/cipher/aead_message.h"
#include "provider/cipher/cipher.h"
#include "provider/cipher/sealed_message.h"
#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {
namespace {

using lanecrypt::provider::CipherContext;

constexpr size_t kLast = 320;  // whole blocks of both ciphers

uint64_t most_bytes_of(const std::string &cipher) {
  return is_gcm(cipher) ? (uint64_t{1} << 36) - 32 : (uint64_t{1} << 38) - 64;
}

// Operation calls the provider's functions directly, which gives access to its state.
class Operation {
 public:
  Operation(Library &library, const std::string &name) {
    EVP_CIPHER *cipher = library.cipher(name.c_str(), "gpu");
    const OSSL_PROVIDER *provider = O(EVP_CIPHER_get0_provider)(cipher);
    int no_cache = 0;
    const OSSL_ALGORITHM *at =
        O(OSSL_PROVIDER_query_operation)(provider, OSSL_OP_CIPHER, &no_cache);
    while (std::string(at->algorithm_names).substr(0, name.size()) != name) ++at;
    functions_ = at->implementation;
    state_ = function<OSSL_FUNC_cipher_newctx_fn>(OSSL_FUNC_CIPHER_NEWCTX)(
        O(OSSL_PROVIDER_get0_provider_ctx)(provider));
  }
  ~Operation() { function<OSSL_FUNC_cipher_freectx_fn>(OSSL_FUNC_CIPHER_FREECTX)(state_); }
  Operation(const Operation &) = delete;

  CipherContext &state() { return *static_cast<CipherContext *>(state_); }
  bool is_ours() { return state().aead.message != nullptr; }
  // set_position() pretends that the text so far has `bytes` bytes, which must be whole blocks.
  void set_position(uint64_t bytes) {
    if (is_ours())
      state().aead.message->text_bytes = state().aead.message->summed_bytes = bytes;
    else
      state().aead.text_bytes = bytes;
  }

  bool init(const Bytes &key, const Bytes &iv, bool encrypt) {
    const auto call =
        encrypt ? function<OSSL_FUNC_cipher_encrypt_init_fn>(OSSL_FUNC_CIPHER_ENCRYPT_INIT)
                : function<OSSL_FUNC_cipher_decrypt_init_fn>(OSSL_FUNC_CIPHER_DECRYPT_INIT);
    return call(state_, key.data(), key.size(), iv.data(), iv.size(), nullptr) == 1;
  }
  // update() returns the output. It is empty if the call was refused, and then nothing may have
  // been written.
  Bytes update(const Bytes &in) {
    Bytes out(in.size(), 0x5A);
    size_t bytes = 0;
    const int done = function<OSSL_FUNC_cipher_update_fn>(OSSL_FUNC_CIPHER_UPDATE)(
        state_, out.data(), &bytes, out.size(), in.data(), in.size());
    if (done == 1 && bytes == in.size()) return out;
    EXPECT_EQ(out, Bytes(in.size(), 0x5A));
    return {};
  }
  // at_once() does the same by the function of EVP_Cipher(). It returns whether the call succeeded.
  bool at_once(const Bytes &in) {
    Bytes out(in.size(), 0x5A);
    size_t bytes = 0;
    const int done = function<OSSL_FUNC_cipher_cipher_fn>(OSSL_FUNC_CIPHER_CIPHER)(
        state_, out.data(), &bytes, out.size(), in.data(), in.size());
    if (done == 1) return true;
    EXPECT_EQ(out, Bytes(in.size(), 0x5A));
    return false;
  }
  bool finish() {
    size_t bytes = 0;
    uint8_t out[16];
    return function<OSSL_FUNC_cipher_final_fn>(OSSL_FUNC_CIPHER_FINAL)(state_, out, &bytes, 0) == 1;
  }
  Bytes read_tag() {
    Bytes tag(16);
    OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, tag.data(), 16, 0},
                           OSSL_PARAM_END};
    const auto call = function<OSSL_FUNC_cipher_get_ctx_params_fn>(OSSL_FUNC_CIPHER_GET_CTX_PARAMS);
    return call(state_, params) == 1 ? tag : Bytes();
  }
  bool set_tag(Bytes tag) {
    const OSSL_PARAM params[] = {
        {OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, tag.data(), 16, 0}, OSSL_PARAM_END};
    return function<OSSL_FUNC_cipher_set_ctx_params_fn>(OSSL_FUNC_CIPHER_SET_CTX_PARAMS)(
               state_, params) == 1;
  }

 private:
  template <typename Function>
  Function *function(int id) {
    const OSSL_DISPATCH *at = functions_;
    while (at->function_id != id) ++at;
    return reinterpret_cast<Function *>(at->function);
  }
  const OSSL_DISPATCH *functions_;
  void *state_;
};

class LongestText : public testing::Test {
 protected:
  Library library{{{"devices", devices_under_test()}, {"threshold_bytes", "0"}}};
  // A library whose requests never go to a device. With one core it would offer no cipher.
  Library on_cpu{{{"in_process", "no"}, {"cores", "2"}}};
  Random random{36};
  // The key, the IV and two parts of the text. `begun` is the output for the first part.
  Bytes key, iv, first, last, begun;

  void SetUp() override {
    if (only_opengl_is_under_test()) GTEST_SKIP() << "OpenGL does no authenticated modes";
    ASSERT_TRUE(library.is_ready() && on_cpu.is_ready()) << library.errors() << on_cpu.errors();
    iv = random_bytes(random, 12);
    begun = first = random_bytes(random, 256);
    last = random_bytes(random, kLast);
  }
  void choose_key(const std::string &cipher) {
    const auto has = [&](const char *bits) { return cipher.find(bits) != std::string::npos; };
    key = random_bytes(random, has("-128-") ? 16 : has("-192-") ? 24 : 32);
  }

  // crypt() processes `in` with another cipher of OpenSSL's.
  Bytes crypt(const std::string &cipher, const Bytes &counter, const Bytes &in) {
    Bytes out(in.size() + 16);
    int bytes = 0;
    EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
    O(EVP_EncryptInit_ex2)
    (context, on_cpu.cipher(cipher.c_str(), "default"), key.data(),
     counter.empty() ? nullptr : counter.data(), nullptr);
    EXPECT_EQ(O(EVP_EncryptUpdate)(context, out.data(), &bytes, in.data(), int(in.size())), 1);
    O(EVP_CIPHER_CTX_free)(context);
    out.resize(in.size());
    return out;
  }
  // keystream_before_end() returns the keystream for the last `left` bytes of the longest text.
  Bytes keystream_before_end(const std::string &cipher, size_t left) {
    Bytes counter(16);
    const uint64_t block = is_gcm(cipher) ? 16 : 64;
    const uint32_t number = uint32_t((uint64_t{1} << 32) - left / block);
    std::memcpy(counter.data() + (is_gcm(cipher) ? 0 : 4), iv.data(), 12);
    for (int n = 0; n < 4; ++n)
      counter[size_t(is_gcm(cipher) ? 15 - n : n)] = uint8_t(number >> (8 * n));
    return crypt(is_gcm(cipher) ? cipher.substr(0, cipher.rfind('-') + 1) + "CTR" : "ChaCha20",
                 counter, Bytes(left));
  }
  // gcm_tag() computes the tag of a message of `bytes` bytes (SP 800-38D, section 7.1), from two
  // parts of its ciphertext.
  Bytes gcm_tag(const std::string &cipher, const Bytes &encrypted, uint64_t bytes) {
    using namespace lanecrypt;
    Bytes blocks(32);
    std::memcpy(blocks.data() + 16, iv.data(), 12);
    blocks[31] = 1;
    blocks = crypt(cipher.substr(0, cipher.rfind('-') + 1) + "ECB", {}, blocks);
    const auto load = [](const uint8_t *from) {
      Block block;
      std::memcpy(&block, from, sizeof block);
      return block;
    };
    const Gf128 h = gf128_of_block(load(blocks.data()));
    Gf128 sum = {};
    for (size_t at = 0; at < encrypted.size(); at += 16)
      sum = gf128_multiply(gf128_add(sum, gf128_of_block(load(encrypted.data() + at))), h);
    uint8_t lengths[16] = {};
    for (int n = 0; n < 8; ++n) lengths[15 - n] = uint8_t(8 * bytes >> (8 * n));
    sum = gf128_multiply(gf128_add(sum, gf128_of_block(load(lengths))), h);
    const Block hash = gf128_to_block(sum);
    Bytes tag(16);
    std::memcpy(tag.data(), &hash, 16);
    for (size_t n = 0; n < 16; ++n) tag[n] ^= blocks[16 + n];
    return tag;
  }

  // begin() begins a message of which a device has processed a part, and for which `left` more
  // bytes are allowed.
  void begin(Operation &operation, const std::string &cipher, size_t left, bool encrypt = true) {
    ASSERT_TRUE(operation.init(key, iv, encrypt));
    begun = operation.update(encrypt ? first : begun);
    ASSERT_FALSE(begun.empty());
    ASSERT_TRUE(operation.is_ours());
    operation.set_position(most_bytes_of(cipher) - left);
  }
  // expect_ended() checks that the message accepts not one byte more, and cannot be finished.
  void expect_ended(Operation &operation) {
    take_errors();
    EXPECT_TRUE(operation.update(Bytes(1)).empty());
    const std::vector<unsigned long> errors = take_errors();
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(ERR_GET_REASON(errors.back()), PROV_R_CIPHER_OPERATION_FAILED);
    EXPECT_FALSE(operation.finish());
    take_errors();
  }
};

TEST_F(LongestText, TheLastBlocksAreRight) {
  for (const std::string cipher : kAuthenticated)
    // The text goes to a device, or in pieces shorter than a block to the CPU.
    for (const size_t piece : {kLast, size_t{7}}) {
      choose_key(cipher);
      Operation sealing(library, cipher), opening(library, cipher);
      begin(sealing, cipher, kLast);
      Bytes made;
      for (size_t at = 0; at < kLast; at += piece) {
        const Bytes part = sealing.update(slice(last, at, std::min(piece, kLast - at)));
        ASSERT_FALSE(part.empty());
        made.insert(made.end(), part.begin(), part.end());
      }
      Bytes expected = keystream_before_end(cipher, kLast);
      for (size_t n = 0; n < kLast; ++n) expected[n] ^= last[n];
      ASSERT_EQ(made, expected) << cipher << ", pieces of " << piece;
      ASSERT_TRUE(sealing.finish());
      const Bytes tag = sealing.read_tag();

      Bytes all = begun;
      begin(opening, cipher, kLast, false);
      EXPECT_EQ(begun, first);
      EXPECT_EQ(opening.update(made), last);
      ASSERT_TRUE(opening.set_tag(tag));
      EXPECT_TRUE(opening.finish()) << cipher;
      if (!is_gcm(cipher)) continue;
      all.insert(all.end(), made.begin(), made.end());
      EXPECT_EQ(tag, gcm_tag(cipher, all, most_bytes_of(cipher))) << cipher;
    }
  EXPECT_GE(library.counter("lanecrypt.device-jobs"), 20u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

TEST_F(LongestText, NothingComesAfterIt) {
  for (const std::string cipher : kAuthenticated)
    for (const bool encrypt : {true, false}) {
      choose_key(cipher);
      Operation whole(library, cipher);
      begin(whole, cipher, kLast, encrypt);
      ASSERT_FALSE(whole.update(last).empty());
      expect_ended(whole);
      // The next message is not affected.
      ASSERT_TRUE(whole.init(key, iv, encrypt));
      EXPECT_FALSE(whole.update(first).empty());
    }
}

TEST_F(LongestText, APieceAcrossItsEndIsRefusedAsAWhole) {
  for (const std::string cipher : kAuthenticated)
    // Whole blocks for a device, a few bytes for the CPU, and both.
    for (const size_t bytes : {size_t{384}, size_t{kLast + 1}, size_t{16384}}) {
      choose_key(cipher);
      Operation operation(library, cipher);
      begin(operation, cipher, kLast);
      EXPECT_TRUE(operation.update(Bytes(bytes)).empty()) << cipher << " " << bytes;
      expect_ended(operation);
      EXPECT_EQ(operation.read_tag().size(), is_gcm(cipher) ? 0u : 16u);
      begin(operation, cipher, 320);
      ASSERT_FALSE(operation.update(slice(last, 0, 315)).empty());
      EXPECT_TRUE(operation.update(Bytes(6)).empty()) << cipher;
      expect_ended(operation);
    }
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

// If no device has processed a part of the message, OpenSSL itself would detect the excess too
// late, or never.
TEST_F(LongestText, WithoutADevice) {
  for (Library *on : {&library, &on_cpu})
    for (const std::string cipher : kAuthenticated)
      for (const bool at_once : {false, true}) {
        choose_key(cipher);
        Operation operation(*on, cipher);
        ASSERT_TRUE(operation.init(key, iv, true));
        // This is shorter than a block, so the CPU processes it.
        ASSERT_FALSE(operation.update(Bytes(5)).empty());
        ASSERT_FALSE(operation.is_ours());
        operation.set_position(most_bytes_of(cipher) - 10);
        ASSERT_FALSE(operation.update(Bytes(4)).empty());
        if (at_once)
          EXPECT_FALSE(operation.at_once(Bytes(7))) << cipher;
        else
          EXPECT_TRUE(operation.update(Bytes(7)).empty()) << cipher;
        expect_ended(operation);
        ASSERT_TRUE(operation.init(key, iv, true));
        EXPECT_FALSE(operation.update(Bytes(4)).empty());
        operation.set_position(most_bytes_of(cipher) - 4);
        EXPECT_FALSE(operation.update(Bytes(4)).empty());
        expect_ended(operation);
      }
}

}  // namespace
}  // namespace provider_test
