// A message of GCM or ChaCha20-Poly1305 of which a device has done a part: where it
// stands, and how it goes on on the CPU.
// OpenSSL's context can be told neither a hash nor a counter from which to go on. So from
// the first part on a device the message is ours to its end. Its small requests are then
// text under the stream cipher (CTR, ChaCha20) and data of a hash (GMAC, Poly1305), all
// of which OpenSSL computes. The shares add up to the tag.
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

// The longest IV that OpenSSL takes for GCM.
inline constexpr size_t kMostIvBytes = 128;

// Plain data, except what it owns.
struct AeadMessageState {
  Provider *provider;
  int index;  // of kAlgorithms
  uint8_t key[32];
  uint8_t iv[kMostIvBytes];
  size_t iv_bytes;

  // GCM: J0, H, and the encrypted block J0. ChaCha20-Poly1305: counter 0 and the nonce,
  // r, and s.
  uint8_t start[16];
  Gf128 h;
  Poly r;
  Block mask;
  // GCM: the block that masks GMAC's own tags.
  Block gmac_mask;

  uint64_t aad_bytes, text_bytes;
  // What the first summed_bytes of the text, and all additional data, add to the tag, as
  // in lc_aead_part.
  uint32_t sum[8];
  uint64_t summed_bytes;
  // For the text behind those, if there is any.
  FallbackContext cipher;
  FallbackContext gmac;
  EVP_MAC_CTX *poly1305;

  bool is_over;
};

struct AeadMessage : AeadMessageState {
  secure::KeyMemory memory;  // the memory that holds this itself
};

// Takes over from OpenSSL's context, which has had whole blocks of the text. nullptr if
// that does not tell what is needed: then it must go on by itself.
AeadMessage *take_over_message(CipherContext &context);
AeadMessage *copy_message(const AeadMessage &message);
// Wipes all of it. What is left takes nothing more. It stands for text from which
// OpenSSL's context must not go on.
void end_message(AeadMessage &message);
// Wipes; nullptr is allowed.
void free_message(AeadMessage *message);

// Whether a text that has had `before` bytes may have so many more under its IV.
inline bool has_room(const Algorithm &algorithm, uint64_t before, uint64_t bytes) {
  const uint64_t most = algorithm.traits().most_text_bytes;
  return before <= most && bytes <= most - before;
}

// A message that takes nothing, as after end_message().
AeadMessage *new_ended_message();

// Goes on with text of any length, on the CPU. If the text would be too long, it fails
// and writes nothing.
bool update_message(AeadMessage &message, bool encrypt, uint8_t *out, const uint8_t *in,
                    size_t bytes);
// Adds the text that went through update_message() to the sum. Unless the message ends
// there, that text is whole blocks.
bool sum_up(AeadMessage &message);
// Whether OpenSSL's decryption tells what take_over_message() asks of it.
bool decryption_tells_tag(Provider &provider, int index);
// Sets the tag that a decrypting context of OpenSSL's expects. The second function sets
// the tag of what the context has had, so that it ends well.
bool set_tag(FallbackContext &context, const uint8_t *tag, size_t bytes);
bool set_own_tag(FallbackContext &context, size_t bytes);

// The tag of the message. sum_up() must come before.
void make_tag(const AeadMessage &message, uint8_t tag[16]);

}  // namespace lanecrypt::provider
