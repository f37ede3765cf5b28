// The compression functions and permutations of kernels/hash/, compiled for the host, compared with
// OpenSSL. The test has its own padding code.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/hash/keccak.h"
#include "kernels/hash/sha256.h"
#include "kernels/hash/sha512.h"

namespace {

using Bytes = std::vector<uint8_t>;

Bytes random_message(size_t length) {
  static std::mt19937_64 random(1);
  Bytes message(length);
  for (uint8_t &byte : message) byte = uint8_t(random());
  return message;
}

Bytes by_openssl(const char *name, const Bytes &message, size_t length) {
  Bytes digest(length);
  EVP_MD *md = EVP_MD_fetch(nullptr, name, nullptr);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  EXPECT_EQ(EVP_DigestInit_ex2(context, md, nullptr), 1);
  EXPECT_EQ(EVP_DigestUpdate(context, message.data(), message.size()), 1);
  const bool xof = EVP_MD_get_flags(md) & EVP_MD_FLAG_XOF;
  EXPECT_EQ(xof ? EVP_DigestFinalXOF(context, digest.data(), length)
                : EVP_DigestFinal_ex(context, digest.data(), nullptr),
            1);
  EVP_MD_CTX_free(context);
  EVP_MD_free(md);
  return digest;
}

// A SHA-2 digest. `Word` has 4 or 8 bytes, and a block has 16 words.
template <typename Word>
Bytes sha2(const Bytes &message, size_t length, void (*start)(Word *),
           void (*compress)(Word *, Word *)) {
  constexpr size_t kWord = sizeof(Word), kBlock = 16 * kWord;
  Bytes padded = message;
  padded.push_back(0x80);
  while (padded.size() % kBlock != kBlock - 8) padded.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded.push_back(uint8_t(uint64_t{8} * message.size() >> shift));
  }
  // SHA-512's length field has 16 bytes. No message here needs the first 8.
  if (kWord == 8 && message.size() % kBlock >= kBlock - 16 &&
      message.size() % kBlock < kBlock - 8) {
    padded.insert(padded.end() - 8, kBlock, 0);
  }
  Word state[8], block[16];
  start(state);
  for (size_t at = 0; at < padded.size(); at += kBlock) {
    for (size_t i = 0; i < 16; ++i) {
      block[i] = 0;
      for (size_t b = 0; b < kWord; ++b)
        block[i] = Word(block[i] << 8 | padded[at + kWord * i + b]);
    }
    compress(state, block);
  }
  Bytes digest(length);
  for (size_t i = 0; i < length; ++i) {
    digest[i] = uint8_t(state[i / kWord] >> (8 * (kWord - 1 - i % kWord)));
  }
  return digest;
}

Bytes sponge(const Bytes &message, size_t rate, uint8_t suffix, size_t length) {
  Bytes padded = message;
  padded.push_back(suffix);
  while (padded.size() % rate) padded.push_back(0);
  padded.back() |= 0x80;
  u64 state[25] = {};
  for (size_t at = 0; at < padded.size(); at += rate) {
    for (size_t i = 0; i < rate; ++i) state[i / 8] ^= u64{padded[at + i]} << (8 * (i % 8));
    keccak_f1600(state);
  }
  Bytes digest;
  for (size_t i = 0; digest.size() < length; ++i) {
    if (i == rate) keccak_f1600(state), i = 0;
    digest.push_back(uint8_t(state[i / 8] >> (8 * (i % 8))));
  }
  return digest;
}

// Lengths around each end of a block, and some of several blocks.
const size_t kLengths[] = {0,   1,   3,   55,  56,  63,  64,  65,  71,  72,  103, 111, 112, 119,
                           120, 127, 128, 135, 136, 137, 143, 144, 167, 168, 169, 255, 256, 1000};

TEST(HashPrimitives, Sha256AsOpenSsl) {
  for (size_t length : kLengths) {
    const Bytes message = random_message(length);
    EXPECT_EQ(sha2<u32>(message, 32, sha256_start, sha256_compress),
              by_openssl("SHA2-256", message, 32))
        << length;
    EXPECT_EQ(sha2<u32>(message, 28, sha224_start, sha256_compress),
              by_openssl("SHA2-224", message, 28))
        << length;
  }
}

TEST(HashPrimitives, Sha512AsOpenSsl) {
  for (size_t length : kLengths) {
    const Bytes message = random_message(length);
    EXPECT_EQ(sha2<u64>(message, 64, sha512_start, sha512_compress),
              by_openssl("SHA2-512", message, 64))
        << length;
    EXPECT_EQ(sha2<u64>(message, 48, sha384_start, sha512_compress),
              by_openssl("SHA2-384", message, 48))
        << length;
  }
}

TEST(HashPrimitives, KeccakAsOpenSsl) {
  for (size_t length : kLengths) {
    const Bytes message = random_message(length);
    EXPECT_EQ(sponge(message, 136, 0x06, 32), by_openssl("SHA3-256", message, 32)) << length;
    EXPECT_EQ(sponge(message, 72, 0x06, 64), by_openssl("SHA3-512", message, 64)) << length;
    EXPECT_EQ(sponge(message, 168, 0x1f, 400), by_openssl("SHAKE128", message, 400)) << length;
    EXPECT_EQ(sponge(message, 136, 0x1f, 400), by_openssl("SHAKE256", message, 400)) << length;
  }
}

}  // namespace
