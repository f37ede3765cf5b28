// When a CTR stream of small updates gets keystream that a device makes ahead of it,
// and the seams between that and OpenSSL's context.
//
// While there is keystream, OpenSSL's context stays behind the stream. Whatever else
// than data comes has it catch up first.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// A stream begins: of a new context, key or IV.
void begin_stream(CipherContext &context);
// A stream has grown so long that it is time to see.
void consider_keystream(CipherContext &context);
// All of an update of a stream that has keystream, or is about to; as update_cipher().
int update_with_keystream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                          const uint8_t *in, size_t in_bytes);
// OpenSSL's context is where the stream is, after this.
bool catch_up(CipherContext &context);
// The same, and there is no keystream any more.
bool end_keystream(CipherContext &context);
// Wipes it; OpenSSL's context is not asked for any more.
void drop_keystream(CipherContext &context);

// Of a child of fork it is the parent's, and forgotten.
void end_keystream_pool(Provider &provider);

}  // namespace lanecrypt::provider
