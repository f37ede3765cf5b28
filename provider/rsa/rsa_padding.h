// The paddings of RSA that stand around a device's bare private operation. What
// does not fit, or is wrong, is refused without an error: OpenSSL's own
// implementation then says what is the matter.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::provider {

using ByteSpan = std::span<const uint8_t>;

// The encoded message that is signed: `out` is as long as the modulus.
// RFC 8017, section 9.2, around what stands for the message: a DigestInfo, or
// whatever the caller has.
bool encode_pkcs1(std::span<uint8_t> out, ByteSpan info);
// What comes before a digest in its DigestInfo. nullptr data: an unknown
// digest; empty: MD5 and SHA-1 side by side, which have none.
ByteSpan digest_info_prefix(const EVP_MD *digest);
// RFC 8017, section 9.1.1, for a modulus of `bits` bits. The salt is random,
// of `salt_bytes` bytes or as one of OpenSSL's RSA_PSS_SALTLEN_*.
bool encode_pss(std::span<uint8_t> out, size_t bits, ByteSpan digest, const EVP_MD *hash,
                const EVP_MD *mgf1_hash, int salt_bytes, int least_salt_bytes,
                OSSL_LIB_CTX *random);
// ANSI X9.31, with the trailer of the digest or, with nullptr, without.
bool encode_x931(std::span<uint8_t> out, ByteSpan in, const EVP_MD *digest);
// X9.31 signs with the smaller of s and n - s.
void take_smaller_x931(std::span<uint8_t> signature, const uint8_t *modulus);

// Whether in < modulus, both of one length, in constant time.
bool is_below(ByteSpan in, const uint8_t *modulus);

// Decryption with PKCS#1 v1.5, where wrong padding is an error: the bytes of the message in
// `out`, which has room for `encoded`, or -1 with OpenSSL's errors raised. It takes the same
// steps for all padding, right or wrong; what it returns is as secret as the message.
int decode_pkcs1(uint8_t *out, ByteSpan encoded);
// What a decryption gives its caller, who learns here whether the padding was right: 1 and
// the length, or 0 and `otherwise`, by the same steps. message_bytes: -1 for wrong padding.
int conclude_decryption(size_t *out_bytes, int message_bytes, size_t otherwise);

// Decryption with PKCS#1 v1.5, where wrong padding gives the message that
// OpenSSL makes of the private exponent's hash and the ciphertext, in the same
// time. `encoded` and `ciphertext` are as long as the modulus. The bytes of the
// message in `out`, which has room for `encoded`; -1 where it cannot be had.
int decode_pkcs1_implicitly(uint8_t *out, ByteSpan encoded, ByteSpan ciphertext,
                            const uint8_t exponent_hash[32], const EVP_MD *sha256);
inline constexpr size_t kPremasterBytes = 48;
// As TLS decrypts (RFC 5246, section 7.4.7.1): what is wrong gives the 48 random
// bytes of `random`, in the same time. alternative: another version that is
// right too; 0 for none.
void decode_tls_premaster(uint8_t out[kPremasterBytes], ByteSpan encoded,
                          const uint8_t random[kPremasterBytes], unsigned version,
                          unsigned alternative);

}  // namespace lanecrypt::provider
