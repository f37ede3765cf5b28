// CCM's implementation of the operations of cipher.h. aead.h calls it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// Call says which function to behave like: EVP_CipherUpdate(), which raises an error if it fails,
// or EVP_Cipher().
enum class Call { kUpdate, kAtOnce };

// copy_ccm() copies the additional data. `copy` is a bytewise copy of `context`. False, with an
// error raised, if there is no memory.
bool copy_ccm(const CipherContext &context, CipherContext &copy);
// free_ccm() wipes and frees the additional data.
void free_ccm(CipherContext &context);

// note_ccm_key() is called before OpenSSL's context gets a key.
void note_ccm_key(CipherContext &context);
// begin_ccm() is called when OpenSSL's context gets a key, an IV, or both.
void begin_ccm(CipherContext &context, bool key, bool iv);
// lose_ccm() is called when OpenSSL's context has refused something, but may have accepted a part
// of it.
void lose_ccm(CipherContext &context);
// note_ccm_end() is called when OpenSSL's context has returned its tag, or has decrypted. It then
// needs an IV and a length again.
void note_ccm_end(CipherContext &context);

// finish_ccm() is called for the final call of a message. If no text came before, some versions of
// OpenSSL take this call for an empty text.
void finish_ccm(CipherContext &context);

// update_ccm() takes the length of the text (if `in` and `out` are nullptr), additional data (if
// only `out` is nullptr), or the text.
int update_ccm(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
               const uint8_t *in, size_t in_bytes, Call call);

}  // namespace lanecrypt::provider
