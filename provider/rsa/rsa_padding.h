// The paddings of RSA around a device's raw private-key operation. If input does not fit or is
// invalid, the encoding functions return false and raise no error: the caller lets OpenSSL's own
// implementation raise it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::provider {

using ByteSpan = std::span<const uint8_t>;

// The encode functions write the encoded message that is signed. `out` is as long as the modulus.
// encode_pkcs1() writes EMSA-PKCS1-v1_5 (RFC 8017, section 9.2) around `info`: a DigestInfo, or any
// bytes of the caller.
bool encode_pkcs1(std::span<uint8_t> out, ByteSpan info);
// digest_info_prefix() returns the bytes before a digest in its DigestInfo. If data() is nullptr,
// the digest is unknown. The prefix is empty for MD5-SHA1, which has none.
ByteSpan digest_info_prefix(const EVP_MD *digest);
// encode_pss() writes EMSA-PSS (RFC 8017, section 9.1.1) for a modulus of `bits` bits, with a
// random salt from `random`. `salt_bytes` is the length of the salt, or one of OpenSSL's
// RSA_PSS_SALTLEN_*.
bool encode_pss(std::span<uint8_t> out, size_t bits, ByteSpan digest, const EVP_MD *hash,
                const EVP_MD *mgf1_hash, int salt_bytes, int least_salt_bytes,
                OSSL_LIB_CTX *random);
// encode_x931() writes ANSI X9.31 padding, with the trailer of `digest`, or without one if that is
// nullptr.
bool encode_x931(std::span<uint8_t> out, ByteSpan in, const EVP_MD *digest);
// take_smaller_x931() replaces a signature s by the smaller of s and n - s, as X9.31 requires.
void take_smaller_x931(std::span<uint8_t> signature, const uint8_t *modulus);

// is_below() says whether in < modulus, both of the same length, in constant time.
bool is_below(ByteSpan in, const uint8_t *modulus);

// decode_pkcs1() decodes PKCS #1 v1.5 encryption padding (RFC 8017, section 7.2.2, step 3), in
// which wrong padding is an error. It writes the message to `out`, which must have room for
// `encoded`, and returns its length, or -1 with OpenSSL's errors raised. It takes the same steps
// for right and wrong padding. Its result is as secret as the message.
int decode_pkcs1(uint8_t *out, ByteSpan encoded);
// conclude_decryption() sets the result of a decryption, from which the caller learns whether the
// padding was right. It returns 1 and stores `message_bytes` in `*out_bytes`, or, if that is -1 for
// wrong padding, returns 0 and stores `otherwise`. Both cases take the same steps.
int conclude_decryption(size_t *out_bytes, int message_bytes, size_t otherwise);

// decode_pkcs1_implicitly() decodes PKCS #1 v1.5 encryption padding with implicit rejection: for
// wrong padding it returns, in the same time, the message that OpenSSL derives from the private
// exponent's hash and the ciphertext. `encoded` and `ciphertext` are as long as the modulus. It
// writes the message to `out`, which must have room for `encoded`, and returns its length, or -1 if
// it cannot be computed.
int decode_pkcs1_implicitly(uint8_t *out, ByteSpan encoded, ByteSpan ciphertext,
                            const uint8_t exponent_hash[32], const EVP_MD *sha256);
inline constexpr size_t kPremasterBytes = 48;
// decode_tls_premaster() decodes a TLS premaster secret (RFC 5246, section 7.4.7.1). For wrong
// input it writes the 48 random bytes of `random`, in the same time. `alternative` is another
// accepted version, or 0.
void decode_tls_premaster(uint8_t out[kPremasterBytes], ByteSpan encoded,
                          const uint8_t random[kPremasterBytes], unsigned version,
                          unsigned alternative);

}  // namespace lanecrypt::provider
