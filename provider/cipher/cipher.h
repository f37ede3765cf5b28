// One cipher operation. OpenSSL's own context holds the state and processes everything small. The
// functions around it send bulk data to a device or to several cores.
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

// new_cipher_context() creates a context, with OpenSSL's context and no key. It returns nullptr
// with an error raised on failure. The caller frees it with free_cipher_context().
CipherContext *new_cipher_context(Provider &provider, int index);
// copy_cipher_context() returns a copy that shares nothing with `context`, or nullptr with an error
// raised.
CipherContext *copy_cipher_context(const CipherContext &context);
// free_cipher_context() wipes and frees the context; nullptr is allowed.
void free_cipher_context(CipherContext *context);

// The following functions implement the operations of OSSL_DISPATCH. They return 1, or 0 with an
// error raised. aead.h has their counterparts for the authenticated modes.
int init_stream(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], bool encrypt);
int get_stream_params(CipherContext &context, OSSL_PARAM params[]);
int set_stream_params(CipherContext &context, const OSSL_PARAM params[]);
int finish_stream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size);
// `kTracking` is Algorithm::tracking() of the context's algorithm.
template <UpdateTracking kTracking>
int update_cipher(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                  const uint8_t *in, size_t in_bytes);
// cipher_at_once() implements OSSL_FUNC_cipher_cipher: one call for whole blocks (CTR: any length),
// independent of what update holds back.
int cipher_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                   const uint8_t *in, size_t in_bytes);

// feed() gives data of any length to OpenSSL's context.
bool feed(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
          size_t in_bytes);

// place_of() decides where a request is done, once for each request. Usually it answers at once.
// The caller waits only if the library opens a device now, or, for a request of 4 GiB or more,
// looks for devices (Context::place() in src/abi/context.cpp). LC_CHOICE_CPU: OpenSSL's context, on
// the caller's thread. LC_CHOICE_CORES: several cores, by the library in the same CPU time; never
// for authenticated modes and XTS. LC_CHOICE_DEVICE: a device.
Placement place_of(const CipherContext &context, const uint8_t *out, const uint8_t *in,
                   size_t in_bytes);

// do_without_device() handles a request that no device can do, for the reason `why`. It returns
// kNotTaken. If require_gpu is set, it instead raises an error, counts a failure and returns
// kFailed.
OffloadResult do_without_device(Provider &provider, const char *why);

// run_on_device() runs one message on `device` (as in Placement), and does not change the state of
// the stream. `iv_bytes` and `tag_bytes` are 0 for the default length.
OffloadResult run_on_device(CipherContext &context, uint32_t device, lc_cipher cipher,
                            const lc_message &message, uint32_t iv_bytes, uint32_t tag_bytes = 0);

// run_bulk() processes whole units at `place`, a device or several cores, in the direction of the
// context and with `iv` as the first IV. `out` equals `in` or does not overlap it. Afterwards it
// sets OpenSSL's context to the position behind the data, with nothing held back.
// XTS: `bytes` are one data unit, and OpenSSL's context stays as it is.
// Ciphertext stealing: `bytes` are one message.
OffloadResult run_bulk(CipherContext &context, const Placement &place,
                       const uint8_t iv[kBlockBytes], uint8_t *out, const uint8_t *in,
                       size_t bytes);

}  // namespace lanecrypt::provider
