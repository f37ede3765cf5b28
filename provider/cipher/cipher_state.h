// The state of a cipher context in addition to OpenSSL's own context, as plain data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "provider/cipher/algorithms.h"
#include "provider/cipher/fallback_cipher.h"
#include "provider/provider.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {

inline constexpr size_t kBlockBytes = 16;
inline constexpr size_t kMostKeyBytes = 64;

// GeneratorSigns says whether the context was initialised as a random generator does it: see
// random_generator.h.
enum class GeneratorSigns : uint8_t { kNew, kAsGenerators, kNone };

// StreamPosition is what OpenSSL's context does not report of its position in a stream: see
// stream_position.h.
struct StreamPosition {
  // How many bytes OpenSSL's context holds back: part of a block, or the last block of a decryption
  // with padding.
  size_t held_bytes;

  // True if first_iv is the first IV of the stream. After bulk processing on a device, OpenSSL's
  // context gets the next IV as if a new stream began, and then reports that one as its first IV.
  bool first_iv_is_here;
  uint8_t first_iv[kBlockBytes];

  // ChaCha20, whose position OpenSSL's context does not report: the counter of the current block
  // and the nonce, and how many bytes of that block are used.
  uint8_t chacha20_iv[kBlockBytes];
  unsigned chacha20_used_bytes;
  // True if a new key without an IV was set within a block. Versions of OpenSSL differ in the
  // counter that follows.
  bool chacha20_is_lost;
};

// AeadState is the state of an authenticated mode: the IV, and what OpenSSL's context has processed
// under it. For GCM and ChaCha20-Poly1305 it also has the message, once a device has processed a
// part of it.
struct AeadState {
  struct AeadMessage *message;
  uint64_t aad_bytes, text_bytes;
  bool is_over;       // text is refused until the next IV
  bool openssl_only;  // OpenSSL generates the IVs, or these are TLS records
  bool has_made_tag;  // has encrypted, and has not decrypted since; not for CCM
  bool tag_is_ours;   // `tag` is the tag, and OpenSSL's context has another
  uint8_t tag[16];
  uint8_t wanted_tag[16];  // the expected tag, for decryption
  size_t wanted_tag_bytes;
  // GCM: the length that OpenSSL's context assumes for the next IV; 0 if not known
  size_t openssl_iv_bytes;
  size_t iv_bytes;
  uint8_t iv[128];
};

// CcmState is what OpenSSL's context has been given for the next CCM message. A device needs all of
// it at once.
struct CcmState {
  // Whether OpenSSL's context has an IV, and whether it has a length of the text. That length may
  // be an earlier message's.
  bool iv_set, length_set;
  bool has_tag;  // whether it has the tag of an encrypted text, which was not read yet
  // Whether that length was set after the IV and the key, and no text has followed.
  bool is_fresh;
  // True if a call failed, so that the effect of later calls on OpenSSL's context is not known.
  bool is_lost;
  uint64_t length;
  uint8_t *aad;  // kept only if a device may need it
  size_t aad_bytes;
  // The lengths of the IV and the tag when the key was set. OpenSSL builds them into its key
  // schedule.
  size_t key_iv_bytes, key_tag_bytes;
};

// CipherState is all zeros at first. It is copied bytewise with its context.
struct CipherState {
  Provider *provider;
  int index;  // an index into kAlgorithms
  GeneratorSigns generator_signs;
  FallbackContext fallback;
  // OpenSSL's context alone does an update of fewer bytes than pass_below. `counts` counts it.
  size_t pass_below;
  Counters::Line *counts;

  bool encrypting;
  bool key_set;
  bool key_was_set_encrypting;  // the direction for which OpenSSL's key schedule was made
  bool iv_set;
  bool tls_records;      // OpenSSL handles TLS padding and MAC
  bool message_is_over;  // ciphertext stealing: the one update has been made
  bool is_ieee_xts;      // SM4-XTS: IEEE's standard is set; otherwise GB/T 17964
  uint8_t *key;          // kMostKeyBytes bytes of key memory

  StreamPosition position;
  AeadState aead;
  CcmState ccm;

  const Algorithm &algorithm() const { return kAlgorithms[index]; }
  // Whether the context may hold bytes back.
  bool is_block_mode() const { return algorithm().is_block_mode(); }
  // set_key() notes the key that OpenSSL's context has accepted, for the direction in `encrypting`.
  // `bytes` is 16, 24, 32 or 64, so that the compiler can copy without a call.
  void set_key(const uint8_t *new_key, size_t bytes) {
    std::memcpy(key, new_key, 16);
    if (bytes > 32) std::memcpy(key + 16, new_key + 16, 32);
    std::memcpy(key + bytes - 16, new_key + bytes - 16, 16);
    key_set = true;
    key_was_set_encrypting = encrypting;
  }
};

struct CipherContext : CipherState {
  secure::KeyMemory key_memory;
};

}  // namespace lanecrypt::provider
