// The authenticated modes' implementations of the operations of cipher.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

template <bool kEncrypt>
int init_aead(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
              size_t iv_bytes, const OSSL_PARAM params[]);
int get_aead_params(CipherContext &context, OSSL_PARAM params[]);
int set_aead_params(CipherContext &context, const OSSL_PARAM params[]);
int update_aead(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                const uint8_t *in, size_t in_bytes);
int finish_aead(CipherContext &context, uint8_t *out, size_t *out_bytes);
int aead_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                 const uint8_t *in, size_t in_bytes);

}  // namespace lanecrypt::provider
