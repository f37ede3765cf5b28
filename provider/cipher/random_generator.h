// Detects contexts that may belong to OpenSSL's own random generator, a CTR-DRBG. Before 3.5 the
// generator fetches AES with the application's default properties, and so may get ours. Its
// requests go to no device and no other thread, whatever the settings say. Otherwise random numbers
// would wait for these while the generator's locks are held, and would leave the process's locked
// memory.
// All these versions use three contexts, each in a way that almost no other program does:
// - CTR, initialised without key and IV, which then never come together. An update has at most 64
//   KiB, the maximum of one generator request.
// - ECB, initialised without a key. An update has at most three blocks.
// - ECB with the key of the derivation function (SP 800-90A, section 10.3.2), with the same
//   updates.
// If an application does the same, such updates stay on the CPU, which does them sooner.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// note_generator_signs() is called before each initialisation.
void note_generator_signs(CipherContext &context, const uint8_t *key, const uint8_t *iv,
                          bool encrypt);

// may_be_generators() says whether an update of `in_bytes` may be a request of a random generator.
inline bool may_be_generators(const CipherContext &context, size_t in_bytes) {
  return context.generator_signs == GeneratorSigns::kAsGenerators &&
         in_bytes <= (context.algorithm().mode == EVP_CIPH_CTR_MODE ? 65536 : 3 * kBlockBytes);
}

}  // namespace lanecrypt::provider
