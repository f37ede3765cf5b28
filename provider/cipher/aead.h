// The operations of cipher.h for the authenticated modes. They return 1, or 0 with an error raised
// if OpenSSL raises one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// init_aead() begins a message with a new key or IV. Either may be nullptr, and then stays as it
// is.
template <bool kEncrypt>
int init_aead(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
              size_t iv_bytes, const OSSL_PARAM params[]);
// get_aead_params() reads parameters of OpenSSL's context. The tag is ours if a device has
// processed a part of the message.
int get_aead_params(CipherContext &context, OSSL_PARAM params[]);
// set_aead_params() sets parameters of OpenSSL's context, and notes those that concern the message.
int set_aead_params(CipherContext &context, const OSSL_PARAM params[]);
// update_aead() processes additional data (if `out` is nullptr) or text.
int update_aead(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                const uint8_t *in, size_t in_bytes);
// finish_aead() ends the message: it computes the tag, or checks it.
int finish_aead(CipherContext &context, uint8_t *out, size_t *out_bytes);
// aead_at_once() behaves like EVP_Cipher(): as update_aead(), or as finish_aead() if `in` is
// nullptr.
int aead_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                 const uint8_t *in, size_t in_bytes);

}  // namespace lanecrypt::provider
