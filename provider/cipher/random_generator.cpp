// Detects contexts that may belong to OpenSSL's CTR-DRBG.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/random_generator.h"

namespace lanecrypt::provider {
namespace {

// is_key_of_derivation() says whether the key is 0, 1, 2, ..., the constant of the derivation
// function.
bool is_key_of_derivation(const uint8_t *key, size_t bytes) {
  for (size_t at = 0; at < bytes; ++at)
    if (key[at] != at) return false;
  return true;
}

}  // namespace

void note_generator_signs(CipherContext &context, const uint8_t *key, const uint8_t *iv,
                          bool encrypt) {
  GeneratorSigns &signs = context.generator_signs;
  const unsigned mode = context.algorithm().mode;
  const bool is_ecb = mode == EVP_CIPH_ECB_MODE;
  if (signs == GeneratorSigns::kNone) return;
  if (!encrypt || (!is_ecb && mode != EVP_CIPH_CTR_MODE)) {
    signs = GeneratorSigns::kNone;
  } else if (signs == GeneratorSigns::kNew) {
    const bool has_sign = key == nullptr
                              ? iv == nullptr
                              : is_ecb && is_key_of_derivation(key, context.algorithm().key_bytes);
    signs = has_sign ? GeneratorSigns::kAsGenerators : GeneratorSigns::kNone;
  } else if (key != nullptr && iv != nullptr) {
    signs = GeneratorSigns::kNone;
  }
}

}  // namespace lanecrypt::provider
