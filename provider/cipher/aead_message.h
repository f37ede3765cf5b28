// A message of GCM or ChaCha20-Poly1305 of which a device has processed a part: its state, and its
// continuation on the CPU.
// OpenSSL's contexts accept neither a hash nor a counter to continue from. So from the first part
// on a device, we process the message to its end. Its small requests are then text of the stream
// cipher (CTR, ChaCha20) and input of a hash (GMAC, Poly1305), all of which OpenSSL computes. The
// partial hashes are combined into the tag.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>

#include "kernels/aead/gf128.h"
#include "kernels/aead/poly1305_field.h"
#include "provider/cipher/algorithms.h"
#include "provider/cipher/fallback_cipher.h"
#include "provider/provider.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {

struct CipherContext;

// kMostIvBytes is the longest IV that OpenSSL accepts for GCM.
inline constexpr size_t kMostIvBytes = 128;

// AeadMessageState is plain data, except that it owns `cipher`, `gmac` and `poly1305`.
struct AeadMessageState {
  Provider *provider;
  int index;  // an index into kAlgorithms
  uint8_t key[32];
  uint8_t iv[kMostIvBytes];
  size_t iv_bytes;

  // GCM: `start` is J0, `h` is H, and `mask` is the encrypted block J0. ChaCha20-Poly1305: `start`
  // is counter 0 and the nonce, `r` is r, and `mask` is s.
  uint8_t start[16];
  Gf128 h;
  Poly r;
  Block mask;
  // GCM: the mask of the tags of `gmac`.
  Block gmac_mask;

  uint64_t aad_bytes, text_bytes;
  // The hash of all additional data and of the first summed_bytes of the text, in the form of
  // lc_aead_part.
  uint32_t sum[8];
  uint64_t summed_bytes;
  // For the text behind summed_bytes, if there is any.
  FallbackContext cipher;
  FallbackContext gmac;
  EVP_MAC_CTX *poly1305;

  bool is_over;
};

struct AeadMessage : AeadMessageState {
  secure::KeyMemory memory;  // the memory that holds this object
};

// take_over_message() makes an AeadMessage from OpenSSL's context, which has processed a number of
// whole units of the text. It returns nullptr if that context does not reveal its tag. Then the
// message must continue in that context. The caller frees the result with free_message().
AeadMessage *take_over_message(CipherContext &context);
// copy_message() returns a copy with its own contexts. It returns nullptr, with an error raised, if
// there is no memory.
AeadMessage *copy_message(const AeadMessage &message);
// end_message() wipes the message, which then refuses all data. It stays in place to mark that
// OpenSSL's context must not continue with the text.
void end_message(AeadMessage &message);
// free_message() wipes and frees the message; nullptr is allowed.
void free_message(AeadMessage *message);

// has_room() says whether a text of `before` bytes may continue with `bytes` more under the same
// IV.
inline bool has_room(const Algorithm &algorithm, uint64_t before, uint64_t bytes) {
  const uint64_t most = algorithm.traits().most_text_bytes;
  return before <= most && bytes <= most - before;
}

// new_ended_message() returns a message that refuses all data, as after end_message().
AeadMessage *new_ended_message();

// update_message() encrypts or decrypts `bytes` of text, any number, from `in` to `out` on the CPU.
// If the text would be too long, it fails and writes nothing.
bool update_message(AeadMessage &message, bool encrypt, uint8_t *out, const uint8_t *in,
                    size_t bytes);
// sum_up() adds the text of update_message() since the last call to the hash. That text must be
// whole units, unless the message ends there.
bool sum_up(AeadMessage &message);
// decryption_tells_tag() says whether a decrypting context of OpenSSL reveals what
// take_over_message() needs.
bool decryption_tells_tag(Provider &provider, int index);
// set_tag() sets the tag that a decrypting context of OpenSSL expects. set_own_tag() sets the tag
// of the data that the context has processed, so that its final call succeeds.
bool set_tag(FallbackContext &context, const uint8_t *tag, size_t bytes);
bool set_own_tag(FallbackContext &context, size_t bytes);

// make_tag() computes the tag of the message (SP 800-38D, section 7.1; RFC 8439, section 2.8). The
// caller must call sum_up() first.
void make_tag(const AeadMessage &message, uint8_t tag[16]);

}  // namespace lanecrypt::provider
