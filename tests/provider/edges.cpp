// Tests the edge cases in which the CPU's and the device's part of a stream could differ, one by
// one, and the errors, which must be OpenSSL's.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/proverr.h>

#include <atomic>
#include <set>
#include <string_view>
#include <thread>

#include "provider/provider_under_test.h"
#include "test_scale.h"

namespace provider_test {
namespace {

const uint8_t kKey[65] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
const uint8_t kIv[16] = {9, 8, 7, 6, 5, 4, 3, 2, 1};

Bytes pattern(size_t bytes) {
  Bytes out(bytes);
  for (size_t at = 0; at < bytes; ++at) out[at] = uint8_t(at * 31 + at / 256);
  return out;
}

std::vector<const char *> all_ciphers() {
  std::vector<const char *> all(std::begin(kCiphers), std::end(kCiphers));
  all.insert(all.end(), std::begin(kAuthenticated), std::end(kAuthenticated));
  all.insert(all.end(), std::begin(kCcm), std::end(kCcm));
  return all;
}

class Edges : public testing::Test {
 protected:
  Library library{{{"devices", devices_under_test()}, {"threshold_bytes", "0"}}};
  void SetUp() override { ASSERT_TRUE(library.is_ready()) << library.errors(); }
};

TEST_F(Edges, EverySplitOfThreeBlocks) {
  Sample sample(11);
  for (const std::string_view name : kCiphers) {
    const char *const cipher = name.data();
    // The other block ciphers run through the same code as AES.
    const bool is_whole =
        wants_every_case() ? name.starts_with("AES") : name.starts_with("AES-256");
    const size_t step = is_whole || name == "ChaCha20" ? 1 : 5;
    for (int direction : {1, 0})
      for (int padding : {1, 0})
        for (size_t first = 0; first <= 48; first += step)
          for (size_t second : {size_t(0), size_t(1), size_t(15), size_t(16), size_t(17)}) {
            if (!sample.takes_next()) continue;
            Twins twins(library, cipher);
            twins.init(kKey, kIv, direction);
            twins.set_padding(padding);
            twins.update(pattern(first), Twins::Aliasing::kApart, 0);
            twins.update(pattern(second), Twins::Aliasing::kApart, 1);
            twins.update(pattern(48), Twins::Aliasing::kApart, 2);
            twins.read_parameters();
            twins.finish();
            ASSERT_TRUE(twins.is_whole()) << cipher << " " << direction << padding << " " << first
                                          << "+" << second << ": " << twins.difference();
          }
  }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), 1000u);
}

// Input and output that overlap in part give OpenSSL's result, useful or not.
TEST_F(Edges, EveryOverlap) {
  Sample sample(7);
  for (const char *cipher : kCiphers)
    for (int direction : {1, 0})
      for (size_t shift = 1; shift <= 40; ++shift)
        for (size_t before : {size_t(0), size_t(5), size_t(16)}) {
          if (!sample.takes_next()) continue;
          Twins twins(library, cipher);
          twins.init(kKey, kIv, direction);
          twins.update(pattern(before), Twins::Aliasing::kApart, 0);
          twins.update(pattern(160), Twins::Aliasing::kShifted, 3, shift);
          twins.finish();
          ASSERT_TRUE(twins.is_whole()) << cipher << " " << direction << " " << shift << "+"
                                        << before << ": " << twins.difference();
        }
}

TEST_F(Edges, InPlaceWithBytesHeldBack) {
  Sample sample(5);
  for (const char *cipher : kCiphers)
    for (int direction : {1, 0})
      for (size_t before = 0; before <= 32; ++before) {
        if (!sample.takes_next()) continue;
        Twins twins(library, cipher);
        twins.init(kKey, kIv, direction);
        twins.update(pattern(before), Twins::Aliasing::kInPlace, 0);
        twins.update(pattern(333), Twins::Aliasing::kInPlace, 5);
        twins.finish();
        ASSERT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
      }
}

// Correct padding, which the random tests hardly ever meet.
TEST_F(Edges, DecryptsWhatWasEncrypted) {
  int refused = 0;
  for (const char *name : {"AES-128-ECB", "AES-256-CBC"})
    for (size_t bytes = 0; bytes <= 70; ++bytes) {
      EVP_CIPHER *cipher = library.cipher(name, "default");
      EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
      const Bytes text = pattern(bytes);
      Bytes secret(bytes + 32);
      int first = 0, last = 0;
      O(EVP_CipherInit_ex2)(context, cipher, kKey, kIv, 1, nullptr);
      O(EVP_CipherUpdate)(context, secret.data(), &first, text.data(), int(bytes));
      ASSERT_EQ(O(EVP_CipherFinal_ex)(context, secret.data() + first, &last), 1);
      O(EVP_CIPHER_CTX_free)(context);
      secret.resize(size_t(first + last));
      Twins twins(library, name);
      twins.init(kKey, kIv, 0);
      twins.update(secret, Twins::Aliasing::kApart, 0);
      EXPECT_EQ(twins.finish(), 1);
      // The padding is wrong in one bit, and the text is one byte too short.
      secret.back() ^= 1;
      twins.init(nullptr, kIv, 0);
      twins.update(secret, Twins::Aliasing::kApart, 0);
      refused += twins.finish() == 0;
      secret.pop_back();
      twins.init(nullptr, kIv, 0);
      twins.update(secret, Twins::Aliasing::kApart, 0);
      EXPECT_EQ(twins.finish(), 0);
      ASSERT_TRUE(twins.is_whole()) << name << " " << bytes << ": " << twins.difference();
    }
  // One in 256 has padding that is valid by chance.
  EXPECT_GT(refused, 130);
}

TEST_F(Edges, WithoutAKey) {
  for (const char *cipher : kCiphers) {
    if (std::string(cipher).ends_with("CTS")) continue;  // OpenSSL's would crash
    Twins twins(library, cipher);
    EXPECT_EQ(twins.update(pattern(64), Twins::Aliasing::kApart, 0), 0);
    // XTS has nothing to finish, and succeeds even without a key.
    EXPECT_EQ(twins.finish(), std::string(cipher).ends_with("XTS") ? 1 : 0);
    twins.init(nullptr, kIv, 1);
    EXPECT_EQ(twins.at_once(pattern(64), Twins::Aliasing::kApart, 0), -1);
    EXPECT_TRUE(twins.is_whole()) << twins.difference();
  }
}

TEST_F(Edges, StealingWithoutAKey) {
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  const Bytes in = pattern(64);
  Bytes out(96);
  int bytes = 0;
  ASSERT_EQ(O(EVP_CipherInit_ex2)(context, library.cipher("AES-128-CBC-CTS", "gpu"), nullptr, kIv,
                                  1, nullptr),
            1);
  EXPECT_EQ(O(EVP_CipherUpdate)(context, out.data(), &bytes, in.data(), 64), 0);
  EXPECT_EQ(ERR_GET_REASON(take_errors().at(0)), PROV_R_NO_KEY_SET);
  O(EVP_CIPHER_CTX_free)(context);
}

// Every variant of ciphertext stealing, every length around a few blocks, and a second message,
// which is refused until the next initialisation.
TEST_F(Edges, EveryWayOfStealing) {
  if (only_opengl_is_under_test()) GTEST_SKIP() << "OpenGL does no ciphertext stealing";
  Sample sample(5);
  for (const char *cipher : {"AES-128-CBC-CTS", "AES-192-CBC-CTS", "AES-256-CBC-CTS"})
    for (const char *way : {"CS1", "CS2", "CS3", "cs2"})
      for (int direction : {1, 0})
        for (size_t bytes = 0; bytes <= 83; ++bytes) {
          if (!sample.takes_next()) continue;
          Twins twins(library, cipher);
          twins.init(kKey, kIv, direction);
          twins.set_text(OSSL_CIPHER_PARAM_CTS_MODE, way);
          twins.update(pattern(bytes), Twins::Aliasing::kApart, 0);
          twins.read_parameters();
          twins.update(pattern(40), Twins::Aliasing::kApart, 0);
          twins.init(nullptr, nullptr, -1);
          twins.update(pattern(bytes + 1), Twins::Aliasing::kInPlace, 0);
          twins.read_parameters();
          twins.finish();
          ASSERT_TRUE(twins.is_whole()) << cipher << " " << way << " " << direction << " " << bytes
                                        << ": " << twins.difference();
        }
  EXPECT_GT(library.counter("lanecrypt.device-jobs"), is_scaled_down() ? 500u : 3000u);
}

TEST_F(Edges, OneKeyAtATime) {
  for (const char *cipher : kCiphers) {
    Twins twins(library, cipher);
    twins.init(kKey, kIv, 1);
    twins.update(pattern(100), Twins::Aliasing::kApart, 0);
    twins.init(kKey + 1, nullptr, 0);  // another key, and the previous IV
    twins.update(pattern(100), Twins::Aliasing::kApart, 0);
    twins.init(nullptr, nullptr, 1);  // only the direction
    twins.update(pattern(100), Twins::Aliasing::kApart, 0);
    twins.finish();
    EXPECT_TRUE(twins.is_whole()) << cipher << ": " << twins.difference();
  }
}

// Names, aliases, object identifiers and constants.
TEST_F(Edges, TheSameNamesAndConstants) {
  for (const char *name : all_ciphers()) {
    std::set<std::string> names[2];
    std::vector<int> constants[2];
    const char *const providers[2] = {"default", "gpu"};
    for (int side = 0; side < 2; ++side) {
      EVP_CIPHER *cipher = library.cipher(name, providers[side]);
      ASSERT_NE(cipher, nullptr) << name << " of " << providers[side];
      O(EVP_CIPHER_names_do_all)
      (
          cipher,
          [](const char *alias, void *all) {
            static_cast<std::set<std::string> *>(all)->insert(alias);
          },
          &names[side]);
      constants[side] = {O(EVP_CIPHER_get_mode)(cipher),       O(EVP_CIPHER_get_block_size)(cipher),
                         O(EVP_CIPHER_get_key_length)(cipher), O(EVP_CIPHER_get_iv_length)(cipher),
                         int(O(EVP_CIPHER_get_flags)(cipher)), O(EVP_CIPHER_get_nid)(cipher)};
    }
    EXPECT_EQ(names[0], names[1]);
    EXPECT_EQ(constants[0], constants[1]) << name;
  }
}

// The gettable and settable parameters of a context, by name and type.
TEST_F(Edges, TheSameParameters) {
  for (const char *name : all_ciphers()) {
    std::set<std::pair<std::string, unsigned>> lists[2][2];
    const char *const providers[2] = {"default", "gpu"};
    for (int side = 0; side < 2; ++side) {
      const EVP_CIPHER *cipher = library.cipher(name, providers[side]);
      const OSSL_PARAM *params[2] = {O(EVP_CIPHER_gettable_ctx_params)(cipher),
                                     O(EVP_CIPHER_settable_ctx_params)(cipher)};
      for (int list = 0; list < 2; ++list)
        for (const OSSL_PARAM *param = params[list]; param != nullptr && param->key != nullptr;
             ++param)
          lists[side][list].insert({param->key, param->data_type});
    }
    EXPECT_EQ(lists[0][0], lists[1][0]) << name;
    EXPECT_EQ(lists[0][1], lists[1][1]) << name;
    EXPECT_FALSE(lists[1][0].empty()) << name;
  }
}

// In TLS up to 1.2 the cipher pads a record and removes its MAC.
TEST_F(Edges, TlsRecords) {
  for (const char *name : {"AES-128-CBC", "AES-256-CBC"}) {
    Bytes made[2];
    std::vector<int> results[2];
    const char *const providers[2] = {"default", "gpu"};
    for (int side = 0; side < 2; ++side) {
      unsigned version = 0x0303;
      size_t mac_bytes = 20;
      OSSL_PARAM params[] = {
          {OSSL_CIPHER_PARAM_TLS_VERSION, OSSL_PARAM_UNSIGNED_INTEGER, &version, sizeof version, 0},
          {OSSL_CIPHER_PARAM_TLS_MAC_SIZE, OSSL_PARAM_UNSIGNED_INTEGER, &mac_bytes,
           sizeof mac_bytes, 0},
          OSSL_PARAM_END};
      EVP_CIPHER *cipher = library.cipher(name, providers[side]);
      Bytes record = pattern(1000 + 64);
      for (int encrypt : {1, 0}) {
        EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
        results[side].push_back(
            O(EVP_CipherInit_ex2)(context, cipher, kKey, kIv, encrypt, nullptr));
        if (encrypt == 0) results[side].push_back(O(EVP_CIPHER_CTX_set_params)(context, params));
        if (encrypt == 1) {
          params[1] = OSSL_PARAM_END;  // when encrypting, the MAC is part of the data
          results[side].push_back(O(EVP_CIPHER_CTX_set_params)(context, params));
          params[1] = {OSSL_CIPHER_PARAM_TLS_MAC_SIZE, OSSL_PARAM_UNSIGNED_INTEGER, &mac_bytes,
                       sizeof mac_bytes, 0};
        }
        int bytes = 0;
        const int in_bytes = encrypt == 1 ? 1000 : 1008;
        results[side].push_back(
            O(EVP_CipherUpdate)(context, record.data(), &bytes, record.data(), in_bytes));
        results[side].push_back(bytes);
        made[side].insert(made[side].end(), record.begin(), record.end());
        if (encrypt == 0) {
          const void *mac = nullptr;
          OSSL_PARAM ask[] = {{OSSL_CIPHER_PARAM_TLS_MAC, OSSL_PARAM_OCTET_PTR, &mac, mac_bytes, 0},
                              OSSL_PARAM_END};
          results[side].push_back(O(EVP_CIPHER_CTX_get_params)(context, ask));
          if (mac != nullptr)
            made[side].insert(made[side].end(), static_cast<const uint8_t *>(mac),
                              static_cast<const uint8_t *>(mac) + mac_bytes);
        }
        O(EVP_CIPHER_CTX_free)(context);
      }
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(made[0], made[1]);
    EXPECT_EQ(results[1][2], 1) << "the record was not encrypted";
  }
  take_errors();
}

// A context is used by one thread at a time, but not always by the same one.
TEST(EdgesOfThreads, EveryThreadIsCounted) {
  Library library({{"devices", "none"}, {"threshold_bytes", "100"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  constexpr unsigned kThreads = 40, kUpdates = 3;
  for (const char *name :
       {"AES-256-CTR", "AES-256-CBC", "AES-256-XTS", "AES-256-GCM", "ChaCha20"}) {
    const uint64_t before = library.counter("lanecrypt.cpu-jobs");
    const uint64_t bytes_before = library.counter("lanecrypt.cpu-bytes");
    EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
    EXPECT_EQ(O(EVP_CipherInit_ex2)(context, library.cipher(name, "gpu"), kKey, kIv, 1, nullptr),
              1);
    // More threads than can own a line of the counters, all alive at the same time.
    std::atomic<unsigned> turn = 0;
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        while (turn.load() != thread) std::this_thread::yield();
        uint8_t data[48] = {};
        int bytes = 0;
        for (unsigned n = 0; n < kUpdates; ++n)
          EXPECT_EQ(O(EVP_CipherUpdate)(context, data, &bytes, data, 32), 1);
        ++turn;
        while (turn.load() < kThreads) std::this_thread::yield();
      });
    for (std::thread &thread : threads) thread.join();
    O(EVP_CIPHER_CTX_free)(context);
    EXPECT_EQ(library.counter("lanecrypt.cpu-jobs") - before, kThreads * kUpdates) << name;
    EXPECT_EQ(library.counter("lanecrypt.cpu-bytes") - bytes_before, kThreads * kUpdates * 32)
        << name;
  }
}

}  // namespace
}  // namespace provider_test
