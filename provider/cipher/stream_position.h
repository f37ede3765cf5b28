// The position of a stream, wherever its data were processed: what OpenSSL's context reports, and
// what it does not report, which is kept in StreamPosition.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/cipher/cipher_state.h"

namespace lanecrypt::provider {

// StreamState is the position that OpenSSL's context reports.
struct StreamState {
  uint8_t iv[kBlockBytes];  // the IV of the next block
  unsigned used_bytes;      // CTR, CFB, OFB, ChaCha20: the bytes used of the last unit's keystream
  unsigned padding;
};
// ask_state() queries the current position. It returns false if OpenSSL's context does not report
// it.
bool ask_state(CipherContext &context, StreamState *state);

// begin_position() notes a new key or IV before OpenSSL's context gets it. Either may be nullptr.
void begin_position(CipherContext &context, const uint8_t *key, const uint8_t *iv);
// find_start() finds the IV for an initialisation without one. CBC, CFB and OFB start again at
// their first IV, if there was one, else at the current one, which is stored in `current_iv`. For
// other modes `*start` stays unchanged.
bool find_start(CipherContext &context, uint8_t current_iv[kBlockBytes], const uint8_t **start);
// note_fed() notes that OpenSSL's context has taken `in_bytes` and written `out_bytes`.
void note_fed(CipherContext &context, size_t in_bytes, size_t out_bytes);
// advance_chacha20_stream() advances the position of ChaCha20 by `bytes`.
void advance_chacha20_stream(CipherContext &context, uint64_t bytes);
// set_behind() sets OpenSSL's context behind `bytes` that were processed elsewhere from `iv` on. It
// then continues at `next_iv`, or for ChaCha20 at the counter that follows. It holds nothing back
// any more.
bool set_behind(CipherContext &context, const uint8_t iv[kBlockBytes], size_t bytes,
                const uint8_t next_iv[kBlockBytes]);
}  // namespace lanecrypt::provider
