// Where a stream is, whoever has done what of it so far: what OpenSSL's context tells, and
// what it does not, which is kept beside it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher_state.h"

namespace lanecrypt::provider {

// What is known of a stream where OpenSSL's context has it.
struct StreamState {
  uint8_t iv[kBlockBytes];  // of the next block
  unsigned used_bytes;      // CTR, CFB, OFB, ChaCha20: of the last unit's keystream
  unsigned padding;
};
bool ask_state(CipherContext &context, StreamState *state);

// A new key or IV, either of which may be missing, which OpenSSL's context has not had yet.
void begin_position(CipherContext &context, const uint8_t *key, const uint8_t *iv);
// Without an IV, CBC, CFB and OFB begin again at their first IV, if there was one.
// Otherwise `start` stays.
bool find_start(CipherContext &context, uint8_t current_iv[kBlockBytes], const uint8_t **start);
// OpenSSL's context has had so many bytes and given so many.
void note_fed(CipherContext &context, size_t in_bytes, size_t out_bytes);
// The same of ChaCha20.
void advance_chacha20_stream(CipherContext &context, uint64_t bytes);
// Others did `bytes` from `iv` on. Sets OpenSSL's context behind them, at next_iv, where the
// cipher is not ChaCha20; it holds nothing back any more.
bool set_behind(CipherContext &context, const uint8_t iv[kBlockBytes], size_t bytes,
                const uint8_t next_iv[kBlockBytes]);
}  // namespace lanecrypt::provider
