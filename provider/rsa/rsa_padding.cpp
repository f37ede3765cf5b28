// Encodes and decodes the paddings of RSA, in constant time where a secret is involved.
//
// SPDX-License-Identifier: Apache-2.0
#define OPENSSL_SUPPRESS_DEPRECATED

#include "provider/rsa/rsa_padding.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <utility>

namespace lanecrypt::provider {
namespace {

constexpr size_t kPkcs1Overhead = 11;
// The longest modulus, in bytes.
constexpr size_t kMostBytes = 1024;

// DigestInfo is a digest algorithm of RSASSA-PKCS1-v1_5 with the bytes before the digest, and its
// trailer in ANSI X9.31 if it has one.
struct DigestInfo {
  const char *name;
  uint8_t x931_trailer;
  uint8_t bytes;
  uint8_t prefix[19];
};

// nist() returns the DigestInfo of NIST's algorithm 2.16.840.1.101.3.4.2.`last`.
constexpr DigestInfo nist(const char *name, uint8_t last, uint8_t digest_bytes,
                          uint8_t x931_trailer = 0) {
  return {name,
          x931_trailer,
          19,
          {0x30, uint8_t(17 + digest_bytes), 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2,
           last, 5, 0, 4, digest_bytes}};
}

constexpr DigestInfo kDigestInfos[] = {
    nist("SHA2-256", 1, 32, 0x34),
    nist("SHA2-384", 2, 48, 0x36),
    nist("SHA2-512", 3, 64, 0x35),
    nist("SHA2-224", 4, 28),
    nist("SHA2-512/224", 5, 28),
    nist("SHA2-512/256", 6, 32),
    nist("SHA3-224", 7, 28),
    nist("SHA3-256", 8, 32),
    nist("SHA3-384", 9, 48),
    nist("SHA3-512", 10, 64),
    {"SHA1", 0x33, 15, {0x30, 33, 0x30, 9, 6, 5, 0x2b, 14, 3, 2, 26, 5, 0, 4, 20}},
    {"MD5", 0, 18, {0x30, 32, 0x30, 12, 6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 2, 5, 5, 0, 4, 16}},
    {"RIPEMD-160", 0, 15, {0x30, 33, 0x30, 9, 6, 5, 0x2b, 36, 3, 2, 1, 5, 0, 4, 20}},
    {"MD5-SHA1", 0, 0, {}},
};

const DigestInfo *info_of(const EVP_MD *digest) {
  for (const DigestInfo &info : kDigestInfos)
    if (EVP_MD_is_a(digest, info.name)) return &info;
  return nullptr;
}

class Hash {
 public:
  Hash() : context_(EVP_MD_CTX_new()) {}
  ~Hash() { EVP_MD_CTX_free(context_); }
  Hash(const Hash &) = delete;
  bool begin(const EVP_MD *digest) {
    return context_ != nullptr && EVP_DigestInit_ex2(context_, digest, nullptr);
  }
  bool begin_as(const Hash &other) { return EVP_MD_CTX_copy_ex(context_, other.context_); }
  bool add(const void *data, size_t bytes) { return EVP_DigestUpdate(context_, data, bytes); }
  bool finish(uint8_t *out) { return EVP_DigestFinal_ex(context_, out, nullptr); }
  bool exists() const { return context_ != nullptr; }

 private:
  EVP_MD_CTX *context_;
};

// xor_mgf1() XORs the mask of MGF1 (RFC 8017, appendix B.2.1) onto `to`.
bool xor_mgf1(std::span<uint8_t> to, ByteSpan seed, const EVP_MD *digest) {
  const int digest_bytes = EVP_MD_get_size(digest);
  if (digest_bytes <= 0) return false;
  Hash hash;
  uint8_t mask[EVP_MAX_MD_SIZE];
  for (uint32_t counter = 0, at = 0; at < to.size(); ++counter) {
    const uint8_t number[4] = {uint8_t(counter >> 24), uint8_t(counter >> 16),
                               uint8_t(counter >> 8), uint8_t(counter)};
    if (!hash.begin(digest) || !hash.add(seed.data(), seed.size()) ||
        !hash.add(number, sizeof number) || !hash.finish(mask))
      return false;
    for (int byte = 0; byte < digest_bytes && at < to.size(); ++byte) to[at++] ^= mask[byte];
  }
  return true;
}

// ---- Constant-time words: masks are all ones or all zeros ----

// hide() prevents the compiler from deducing which values a mask has, and from branching on it.
uint32_t hide(uint32_t value) {
  asm("" : "+r"(value));
  return value;
}
uint32_t mask_of_top_bit(uint32_t value) { return hide(0 - (value >> 31)); }
uint32_t mask_zero(uint32_t value) { return mask_of_top_bit(~value & (value - 1)); }
uint32_t mask_equal(uint32_t a, uint32_t b) { return mask_zero(a ^ b); }
// mask_below() computes a < b, for numbers below 2^31.
uint32_t mask_below(uint32_t a, uint32_t b) { return mask_of_top_bit(a - b); }
uint32_t choose(uint32_t mask, uint32_t yes, uint32_t no) { return (mask & yes) | (~mask & no); }

// Hmac computes HMAC (RFC 2104) with SHA-256, many times under one key of 32 bytes.
class Hmac {
 public:
  Hmac(const uint8_t key[32], const EVP_MD *sha256) {
    uint8_t block[64];
    for (const auto &[hash, pad] : {std::pair<Hash *, uint8_t>{&inner_, 0x36}, {&outer_, 0x5c}}) {
      std::memset(block, pad, sizeof block);
      for (int at = 0; at < 32; ++at) block[at] ^= key[at];
      right_ = right_ && hash->begin(sha256) && hash->add(block, sizeof block);
    }
    OPENSSL_cleanse(block, sizeof block);
  }
  bool make(uint8_t out[32], std::initializer_list<ByteSpan> parts) {
    uint8_t digest[32];
    if (!right_ || !work_.exists() || !work_.begin_as(inner_)) return false;
    for (const ByteSpan part : parts)
      if (!work_.add(part.data(), part.size())) return false;
    const bool made = work_.finish(digest) && work_.begin_as(outer_) &&
                      work_.add(digest, sizeof digest) && work_.finish(out);
    OPENSSL_cleanse(digest, sizeof digest);
    return made;
  }

 private:
  Hash inner_, outer_, work_;
  bool right_ = true;
};

// make_synthetic() computes the deterministic bytes that replace a message with wrong padding.
// `label` says which ones.
bool make_synthetic(std::span<uint8_t> out, Hmac &hmac, const char *label) {
  const size_t bits = 8 * out.size();
  const uint8_t length[2] = {uint8_t(bits >> 8), uint8_t(bits)};
  uint8_t block[32];
  bool made = true;
  for (size_t at = 0, number = 0; at < out.size() && made; at += sizeof block, ++number) {
    const uint8_t counter[2] = {uint8_t(number >> 8), uint8_t(number)};
    made = hmac.make(
        block, {counter, {reinterpret_cast<const uint8_t *>(label), std::strlen(label)}, length});
    std::memcpy(out.data() + at, block, std::min(sizeof block, out.size() - at));
  }
  OPENSSL_cleanse(block, sizeof block);
  return made;
}

}  // namespace

bool encode_pkcs1(std::span<uint8_t> out, ByteSpan info) {
  if (info.size() + kPkcs1Overhead > out.size()) return false;
  out[0] = 0;
  out[1] = 1;
  const size_t zero_at = out.size() - info.size() - 1;
  std::memset(out.data() + 2, 0xff, zero_at - 2);
  out[zero_at] = 0;
  if (!info.empty()) std::memcpy(out.data() + zero_at + 1, info.data(), info.size());
  return true;
}

ByteSpan digest_info_prefix(const EVP_MD *digest) {
  const DigestInfo *info = info_of(digest);
  return info == nullptr ? ByteSpan() : ByteSpan(info->prefix, info->bytes);
}

bool encode_pss(std::span<uint8_t> out, size_t bits, ByteSpan digest, const EVP_MD *hash,
                const EVP_MD *mgf1_hash, int salt_bytes, int least_salt_bytes,
                OSSL_LIB_CTX *random) {
  const size_t top_bits = (bits - 1) % 8;
  if (top_bits == 0) {
    out[0] = 0;
    out = out.subspan(1);
  }
  const size_t digest_bytes = digest.size();
  if (out.size() < digest_bytes + 2) return false;
  const size_t most = out.size() - digest_bytes - 2;
  size_t salt_size = 0;
  switch (salt_bytes) {
    case RSA_PSS_SALTLEN_DIGEST:
      salt_size = digest_bytes;
      break;
    case RSA_PSS_SALTLEN_AUTO:  // for signing: the maximum
    case RSA_PSS_SALTLEN_MAX:
      salt_size = most;
      break;
    case -4:  // RSA_PSS_SALTLEN_AUTO_DIGEST_MAX, since OpenSSL 3.1
      salt_size = std::min(most, digest_bytes);
      break;
    default:
      if (salt_bytes < 0) return false;
      salt_size = size_t(salt_bytes);
  }
  uint8_t salt[kMostBytes];
  if (salt_size > most || salt_size > sizeof salt || int(salt_size) < least_salt_bytes)
    return false;

  const size_t masked_bytes = out.size() - digest_bytes - 1;
  uint8_t *hashed = out.data() + masked_bytes;
  static constexpr uint8_t kZeros[8] = {};
  Hash whole;
  if ((salt_size > 0 && RAND_bytes_ex(random, salt, salt_size, 0) <= 0) || !whole.begin(hash) ||
      !whole.add(kZeros, sizeof kZeros) || !whole.add(digest.data(), digest_bytes) ||
      !whole.add(salt, salt_size) || !whole.finish(hashed))
    return false;
  std::memset(out.data(), 0, masked_bytes);
  out[masked_bytes - salt_size - 1] = 1;
  std::memcpy(out.data() + masked_bytes - salt_size, salt, salt_size);
  if (!xor_mgf1(out.first(masked_bytes), {hashed, digest_bytes}, mgf1_hash)) return false;
  if (top_bits != 0) out[0] &= uint8_t(0xff >> (8 - top_bits));
  out.back() = 0xbc;
  return true;
}

bool encode_x931(std::span<uint8_t> out, ByteSpan in, const EVP_MD *digest) {
  const DigestInfo *info = digest == nullptr ? nullptr : info_of(digest);
  if (digest != nullptr && (info == nullptr || info->x931_trailer == 0)) return false;
  const size_t trailer_bytes = digest == nullptr ? 1 : 2;
  if (in.size() + trailer_bytes + 1 > out.size()) return false;
  const size_t header_bytes = out.size() - in.size() - trailer_bytes;
  std::memset(out.data(), 0xbb, header_bytes);
  out[header_bytes - 1] = 0xba;
  out[0] = header_bytes == 1 ? 0x6a : 0x6b;
  std::memcpy(out.data() + header_bytes, in.data(), in.size());
  if (info != nullptr) out[out.size() - 2] = info->x931_trailer;
  out.back() = 0xcc;
  return true;
}

void take_smaller_x931(std::span<uint8_t> signature, const uint8_t *modulus) {
  uint8_t other[kMostBytes];
  if (signature.size() > sizeof other) return;
  unsigned borrow = 0;
  for (size_t at = signature.size(); at-- > 0;) {
    const unsigned difference = unsigned(modulus[at]) - signature[at] - borrow;
    other[at] = uint8_t(difference);
    borrow = difference >> 31;
  }
  if (std::memcmp(other, signature.data(), signature.size()) < 0)
    std::memcpy(signature.data(), other, signature.size());
}

bool is_below(ByteSpan in, const uint8_t *modulus) {
  uint32_t borrow = 0;
  for (size_t at = in.size(); at-- > 0;)
    borrow = hide(uint32_t(in[at]) - modulus[at] - borrow) >> 31;
  return borrow != 0;
}

int decode_pkcs1(uint8_t *out, ByteSpan encoded) {
  const int bytes = int(encoded.size());
  const auto check = [&] {
    return RSA_padding_check_PKCS1_type_2(out, bytes, encoded.data(), bytes, bytes);
  };
  (void)check();
  // OpenSSL raises two errors, and clears each if the padding is right, in constant time, which
  // only libcrypto can do. The second error comes from a repetition of the same check, and is then
  // given another reason.
  const int message_bytes = check();
  ERR_set_debug(OPENSSL_FILE, OPENSSL_LINE, OPENSSL_FUNC);
  ERR_set_error(ERR_LIB_RSA, RSA_R_PADDING_CHECK_FAILED, nullptr);
  return message_bytes;
}

int conclude_decryption(size_t *out_bytes, int message_bytes, size_t otherwise) {
  const uint32_t wrong = mask_of_top_bit(uint32_t(message_bytes));
  const size_t mask = size_t(0) - (wrong & 1);
  *out_bytes = (mask & otherwise) | (~mask & size_t(message_bytes));
  return int(~wrong & 1);
}

int decode_pkcs1_implicitly(uint8_t *out, ByteSpan encoded, ByteSpan ciphertext,
                            const uint8_t exponent_hash[32], const EVP_MD *sha256) {
  constexpr uint32_t kTries = 128;
  const uint32_t bytes = uint32_t(encoded.size());
  uint8_t synthetic[kMostBytes], lengths[2 * kTries], derivation_key[32];
  if (bytes > sizeof synthetic || bytes < kPkcs1Overhead) return -1;
  bool made = Hmac(exponent_hash, sha256).make(derivation_key, {ciphertext});
  Hmac hmac(derivation_key, sha256);
  made = made && make_synthetic({synthetic, bytes}, hmac, "message") &&
         make_synthetic(lengths, hmac, "length");
  OPENSSL_cleanse(derivation_key, sizeof derivation_key);
  if (!made) return -1;

  // The last of the candidates that are not too long is taken.
  const uint32_t most = bytes - kPkcs1Overhead + 1;
  uint32_t length_mask = most;
  for (int shift : {1, 2, 4, 8}) length_mask |= length_mask >> shift;
  uint32_t synthetic_bytes = 0;
  for (uint32_t at = 0; at < kTries; ++at) {
    const uint32_t candidate = (uint32_t(lengths[2 * at]) << 8 | lengths[2 * at + 1]) & length_mask;
    synthetic_bytes = choose(mask_below(candidate, most), candidate, synthetic_bytes);
  }

  uint32_t good = mask_zero(encoded[0]) & mask_equal(encoded[1], 2);
  uint32_t found = 0, zero_at = 0;
  for (uint32_t at = 2; at < bytes; ++at) {
    const uint32_t is_zero = mask_zero(encoded[at]);
    zero_at = choose(is_zero & ~found, at, zero_at);
    found |= is_zero;
  }
  good &= ~mask_below(zero_at, 10) & found;

  // From here on the returned length reveals nothing about the padding. Both messages are read, so
  // that the cache reveals nothing either.
  const uint32_t start = choose(good, zero_at + 1, bytes - synthetic_bytes);
  for (uint32_t at = start; at < bytes; ++at)
    out[at - start] = uint8_t(choose(good, encoded[at], synthetic[at]));
  OPENSSL_cleanse(synthetic, sizeof synthetic);
  return int(bytes - start);
}

void decode_tls_premaster(uint8_t out[kPremasterBytes], ByteSpan encoded,
                          const uint8_t random[kPremasterBytes], unsigned version,
                          unsigned alternative) {
  const ByteSpan secret = encoded.last(kPremasterBytes);
  const size_t zero_at = encoded.size() - kPremasterBytes - 1;
  uint32_t good = mask_zero(encoded[0]) & mask_equal(encoded[1], 2);
  for (size_t at = 2; at < zero_at; ++at) good &= ~mask_zero(encoded[at]);
  good &= mask_zero(encoded[zero_at]);
  const uint32_t sent = uint32_t(secret[0]) << 8 | secret[1];
  uint32_t version_is_good = mask_equal(sent, version & 0xffff);
  if (alternative != 0) version_is_good |= mask_equal(sent, alternative & 0xffff);
  good &= version_is_good;
  for (size_t at = 0; at < kPremasterBytes; ++at)
    out[at] = uint8_t(choose(good, secret[at], random[at]));
}

}  // namespace lanecrypt::provider
