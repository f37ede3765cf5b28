// The paddings of RSA around a device's bare private operation. What does not fit, or is
// wrong, is refused without an error: OpenSSL's own implementation then says what is wrong.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::provider {

using ByteSpan = std::span<const uint8_t>;

// These write the encoded message that is signed. `out` is as long as the modulus.
// RFC 8017, section 9.2, around what stands for the message: a DigestInfo, or whatever the
// caller has.
bool encode_pkcs1(std::span<uint8_t> out, ByteSpan info);
// The bytes before a digest in its DigestInfo. If data() is nullptr, the digest is unknown.
// They are empty for MD5 and SHA-1 side by side, which have none.
ByteSpan digest_info_prefix(const EVP_MD *digest);
// RFC 8017, section 9.1.1, for a modulus of `bits` bits. The salt is random. `salt_bytes` is
// its length, or one of OpenSSL's RSA_PSS_SALTLEN_*.
bool encode_pss(std::span<uint8_t> out, size_t bits, ByteSpan digest, const EVP_MD *hash,
                const EVP_MD *mgf1_hash, int salt_bytes, int least_salt_bytes,
                OSSL_LIB_CTX *random);
// ANSI X9.31, with the trailer of the digest, or without one if that is nullptr.
bool encode_x931(std::span<uint8_t> out, ByteSpan in, const EVP_MD *digest);
// X9.31 signs with the smaller of s and n - s.
void take_smaller_x931(std::span<uint8_t> signature, const uint8_t *modulus);

// Whether in < modulus, both of one length, in constant time.
bool is_below(ByteSpan in, const uint8_t *modulus);

// Decryption with PKCS#1 v1.5, in which wrong padding is an error. Writes the message to
// `out`, which has room for `encoded`, and returns its length, or -1 with OpenSSL's errors
// raised. It takes the same steps for all padding, right or wrong. What it returns is as
// secret as the message.
int decode_pkcs1(uint8_t *out, ByteSpan encoded);
// The result of a decryption, by which the caller learns whether the padding was right:
// returns 1 and the length, or 0 and `otherwise`, by the same steps. message_bytes is -1 for
// wrong padding.
int conclude_decryption(size_t *out_bytes, int message_bytes, size_t otherwise);

// Decryption with PKCS#1 v1.5, in which wrong padding gives the message that OpenSSL makes of
// the private exponent's hash and the ciphertext, in the same time. `encoded` and
// `ciphertext` are as long as the modulus. Writes the message to `out`, which has room for
// `encoded`, and returns its length, or -1 if it cannot be computed.
int decode_pkcs1_implicitly(uint8_t *out, ByteSpan encoded, ByteSpan ciphertext,
                            const uint8_t exponent_hash[32], const EVP_MD *sha256);
inline constexpr size_t kPremasterBytes = 48;
// TLS's decryption (RFC 5246, section 7.4.7.1): wrong input gives the 48 random bytes of
// `random`, in the same time. alternative: another version that is right too, or 0.
void decode_tls_premaster(uint8_t out[kPremasterBytes], ByteSpan encoded,
                          const uint8_t random[kPremasterBytes], unsigned version,
                          unsigned alternative);

}  // namespace lanecrypt::provider
