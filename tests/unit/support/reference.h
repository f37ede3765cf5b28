// Computes the right answers with OpenSSL's default provider, regardless of the machine's
// openssl.cnf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::test {

using Bytes = std::vector<uint8_t>;

// plain_modes() are the modes without a tag that devices have kernels for. cpu_only_modes() are
// those that only the CPU has.
std::vector<lc_cipher> plain_modes();
std::vector<lc_cipher> cpu_only_modes();
// Whether the OpenSSL at run time has `cipher`. It has SM4-GCM and SM4-CCM from 3.1 on, and SM4-XTS
// from 3.2 on.
bool has_reference(lc_cipher cipher);
// Returns the possible sizes, in bytes, of all keys of a message together.
std::vector<uint32_t> key_sizes(lc_cipher cipher);
// Returns the longest length up to `length` that the mode allows for a message.
uint64_t allowed_length(lc_cipher cipher, uint64_t data_unit_bytes, uint64_t length);
// Returns a name such as "AES-256-XTS".
std::string cipher_name(lc_cipher cipher, uint32_t key_bytes);

struct ReferenceJob {
  lc_cipher cipher;
  lc_direction direction;
  uint32_t key_bytes;
  uint64_t data_unit_bytes = 0;  // XTS
};

// Encrypts or decrypts without padding. Throws std::runtime_error if OpenSSL refuses.
void reference_crypt(const ReferenceJob &job, const uint8_t *key, const uint8_t *iv,
                     const uint8_t *in, uint8_t *out, uint64_t length);

// Encrypts in an authenticated mode, with an IV and a tag of any size that the mode allows. Throws
// std::runtime_error if OpenSSL refuses.
struct ReferenceSeal {
  lc_cipher cipher;
  uint32_t key_bytes;
  const uint8_t *key;
  Bytes iv, aad;
  uint32_t tag_bytes = 16;
};
void reference_seal(const ReferenceSeal &seal, const uint8_t *in, uint8_t *out, uint64_t length,
                    uint8_t *tag);

}  // namespace lanecrypt::test
