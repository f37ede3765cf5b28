// What CCM does in the operations of cipher.h, behind aead.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// Which function to behave like: EVP_CipherUpdate(), which leaves an error if it fails,
// or EVP_Cipher().
enum class Call { kUpdate, kAtOnce };

// Copies the additional data. `copy` is as OPENSSL_zalloc() and an assignment left it.
bool copy_ccm(const CipherContext &context, CipherContext &copy);
void free_ccm(CipherContext &context);

// OpenSSL's context is about to take a key.
void note_ccm_key(CipherContext &context);
// It took a key, an IV, or both.
void begin_ccm(CipherContext &context, bool key, bool iv);
// It refused something, but may have taken a part of it.
void lose_ccm(CipherContext &context);
// It has told its tag, or decrypted. Now it needs an IV and a length again.
void note_ccm_end(CipherContext &context);

// The call that ends a message came. If no text came before, some versions of OpenSSL
// take this call for a text of no bytes.
void finish_ccm(CipherContext &context);

// Takes the text's length (neither in nor out), additional data (no out), or the text.
int update_ccm(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
               const uint8_t *in, size_t in_bytes, Call call);

}  // namespace lanecrypt::provider
