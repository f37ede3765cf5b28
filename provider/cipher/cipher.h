// One cipher operation. OpenSSL's own context holds the state and does all that is small.
// Around it, bulk goes to a device or to several cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>

#include "job/placement.h"
#include "provider/cipher/cipher_state.h"
#include "service/client/offload_result.h"

namespace lanecrypt::provider {

// Makes OpenSSL's context, without a key, and all that belongs to it. nullptr with an
// error raised.
CipherContext *new_cipher_context(Provider &provider, int index);
CipherContext *copy_cipher_context(const CipherContext &context);
// Wipes and frees; nullptr is allowed.
void free_cipher_context(CipherContext *context);

// The operations of OSSL_DISPATCH. They return 1, or 0 with an error raised. Those that
// authenticated modes have instead are in aead.h.
int init_stream(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], bool encrypt);
int get_stream_params(CipherContext &context, OSSL_PARAM params[]);
int set_stream_params(CipherContext &context, const OSSL_PARAM params[]);
int finish_stream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size);
// kTracking is what algorithm() says.
template <UpdateTracking kTracking>
int update_cipher(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                  const uint8_t *in, size_t in_bytes);
// One call for whole blocks (CTR: any length), apart from what update holds back.
int cipher_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                   const uint8_t *in, size_t in_bytes);

// Gives data of any length to OpenSSL's context.
bool feed(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
          size_t in_bytes);

// Where a request is done, as far as can be told without any cost. LC_CHOICE_CPU: OpenSSL's
// context, on the caller's thread. LC_CHOICE_CORES: several cores, by the library in the same CPU
// time; never for authenticated modes and XTS. LC_CHOICE_DEVICE: a device. Asked once for each
// request.
Placement place_of(const CipherContext &context, const uint8_t *out, const uint8_t *in,
                   size_t in_bytes);

// What becomes of a request that no device can do, and why. kNotTaken; or, if a device
// must do it, kFailed, which is counted.
OffloadResult do_without_device(Provider &provider, const char *why);

// Runs one message, and does nothing else. `device` is as a Placement has it. iv_bytes and
// tag_bytes: 0 for the usual number.
OffloadResult run_on_device(CipherContext &context, uint32_t device, lc_cipher cipher,
                            const lc_message &message, uint32_t iv_bytes, uint32_t tag_bytes = 0);

// Runs whole units at `place`, a device or several cores, out == in or apart, starting at `iv` (in
// the direction of the context). Then it sets OpenSSL's context behind them, which holds nothing
// back any more.
// XTS: `bytes` are a data unit, and OpenSSL's context stays as it is.
// Ciphertext stealing: they are a message.
OffloadResult run_bulk(CipherContext &context, const Placement &place,
                       const uint8_t iv[kBlockBytes], uint8_t *out, const uint8_t *in,
                       size_t bytes);

}  // namespace lanecrypt::provider
