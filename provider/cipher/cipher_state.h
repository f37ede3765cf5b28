// What a cipher operation of OpenSSL's has here beside OpenSSL's own context, as plain data.
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

// Whether it is initialised as a random generator initialises: see random_generator.h.
enum class GeneratorSigns : uint8_t { kNew, kAsGenerators, kNone };

// Of a stream, what OpenSSL's context does not tell of its position: see stream_position.h.
struct StreamPosition {
  // Bytes that OpenSSL's context holds back: part of a block, or the last block of
  // decryption with padding.
  size_t held_bytes;

  // After bulk on a device, OpenSSL's context is given the next IV as if a new stream
  // began. What it then calls its first IV is wrong. This is the first IV.
  bool first_iv_is_here;
  uint8_t first_iv[kBlockBytes];

  // ChaCha20, about which OpenSSL's context tells nothing: the counter of the block in
  // which the stream is, the nonce, and how many bytes of that block were used.
  uint8_t chacha20_iv[kBlockBytes];
  unsigned chacha20_used_bytes;
  // A new key without an IV came within a block. Versions of OpenSSL differ in what the
  // counter then is.
  bool chacha20_is_lost;
};

// Authenticated modes: the IV, and what OpenSSL's context has had under it. For GCM and
// ChaCha20-Poly1305 also the message, once a device has had a part of it.
struct AeadState {
  struct AeadMessage *message;
  uint64_t aad_bytes, text_bytes;
  bool is_over;       // no text until the next IV
  bool openssl_only;  // OpenSSL makes the IVs, or it is TLS's records
  bool has_made_tag;  // encrypting, and has not decrypted since; not CCM
  bool tag_is_ours;   // and OpenSSL's context has another
  uint8_t tag[16];
  uint8_t wanted_tag[16];  // decrypting
  size_t wanted_tag_bytes;
  size_t openssl_iv_bytes;  // GCM: how long its context takes the next IV to be; 0: not known
  size_t iv_bytes;
  uint8_t iv[128];
};

// CCM: what OpenSSL's context has been told of the next message. A device must be told
// all of that at once.
struct CcmState {
  // What OpenSSL's context has: an IV, and a length of the text. That length may be an
  // earlier message's.
  bool iv_set, length_set;
  bool has_tag;  // of text that was encrypted, and not read yet
  // That length came after the IV and the key, and no text has come since.
  bool is_fresh;
  // A call failed. What OpenSSL's context makes of later calls is not known.
  bool is_lost;
  uint64_t length;
  uint8_t *aad;  // kept only where a device may want it
  size_t aad_bytes;
  // The bytes of IV and tag when the key came: OpenSSL builds them into its schedule.
  size_t key_iv_bytes, key_tag_bytes;
};

// All zeros at first. It is copied with its context.
struct CipherState {
  Provider *provider;
  int index;  // into kAlgorithms
  GeneratorSigns generator_signs;
  FallbackContext fallback;
  // OpenSSL's context alone does an update of fewer bytes, which is counted there.
  size_t pass_below;
  Counters::Line *counts;

  bool encrypting;
  bool key_set;
  bool key_was_set_encrypting;  // OpenSSL's key schedule is for that direction
  bool iv_set;
  bool tls_records;      // OpenSSL does TLS's padding and MAC within
  bool message_is_over;  // ciphertext stealing: it has had its one update
  bool is_ieee_xts;      // SM4-XTS: it was told so; otherwise it is GB/T 17964's
  uint8_t *key;          // kMostKeyBytes, in key memory

  StreamPosition position;
  AeadState aead;
  CcmState ccm;

  const Algorithm &algorithm() const { return kAlgorithms[index]; }
  // Whether it may hold bytes back.
  bool is_block_mode() const { return algorithm().is_block_mode(); }
  // OpenSSL's context took the key in the direction that `encrypting` says. 16, 24, 32 or
  // 64 bytes, which the compiler copies without a call.
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
