// CCM's way through the operations of cipher.h, behind aead.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// Whose ways to keep: EVP_CipherUpdate()'s, which leaves an error where it fails,
// or EVP_Cipher()'s.
enum class Call { kUpdate, kAtOnce };

// The additional data; the copy is as OPENSSL_zalloc() and an assignment left it.
bool copy_ccm(const CipherContext &context, CipherContext &copy);
void free_ccm(CipherContext &context);

// OpenSSL's context is about to take a key.
void note_ccm_key(CipherContext &context);
// It took these.
void begin_ccm(CipherContext &context, bool key, bool iv);
// It refused something of which it may have taken a part.
void lose_ccm(CipherContext &context);
// It has told its tag, or decrypted: it wants an IV and a length again.
void note_ccm_end(CipherContext &context);

// The call that ends a message came. Some versions of OpenSSL take it for a text
// of no bytes, where no text came before.
void finish_ccm(CipherContext &context);

// The text's length (neither in nor out), additional data (no out), or the text.
int update_ccm(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
               const uint8_t *in, size_t in_bytes, Call call);

}  // namespace lanecrypt::provider
