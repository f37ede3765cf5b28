// When a CTR stream of small updates gets keystream that a device makes ahead, and the
// seams between that and OpenSSL's context.
// While there is keystream, OpenSSL's context stays behind the stream. Before anything
// but data, it catches up.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// A stream begins, by a new context, key or IV.
void begin_stream(CipherContext &context);
// The stream has grown so long that it is time to look at it.
void consider_keystream(CipherContext &context);
// Does all of an update of a stream that has keystream, or is about to have it, as
// update_cipher() does.
int update_with_keystream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                          const uint8_t *in, size_t in_bytes);
// Brings OpenSSL's context to where the stream is.
bool catch_up(CipherContext &context);
// The same, and ends the keystream.
bool end_keystream(CipherContext &context);
// Wipes the keystream. OpenSSL's context is not needed any more.
void drop_keystream(CipherContext &context);

// In a child of fork the pool is the parent's, and is only forgotten.
void end_keystream_pool(Provider &provider);

}  // namespace lanecrypt::provider
