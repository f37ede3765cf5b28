// One cipher operation: OpenSSL's own context, which holds the state and does
// all that is small, with the way around it by which bulk goes to a device, or to
// several cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "provider/cipher/algorithms.h"
#include "provider/cipher/fallback_cipher.h"
#include "provider/provider.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {

inline constexpr size_t kBlockBytes = 16;

// CCM: what OpenSSL's context has been told of the message that comes. A device
// must be told all of it at once.
struct CcmState {
  // As OpenSSL's context has them: an IV, and a length of the text, which may be
  // that of an earlier message.
  bool iv_set, length_set;
  bool has_tag;  // of text that was encrypted, and not read yet
  // That length came after the IV and the key, and no text since.
  bool is_fresh;
  // A call failed: what OpenSSL's context then makes of others is its own.
  bool is_lost;
  uint64_t length;
  uint8_t *aad;  // kept only where a device may want it
  size_t aad_bytes;
  // Of IV and tag, when the key came: OpenSSL builds them into its schedule.
  size_t key_iv_bytes, key_tag_bytes;
};

// Whether its initialisations are those of a random generator: see random_generator.h.
enum class GeneratorSigns : uint8_t { kNew, kAsGenerators, kNone };

inline constexpr size_t kMostKeyBytes = 64;

// Plain data: all zeros at first, and copied with its context.
struct CipherState {
  Provider *provider;
  int index;  // into kAlgorithms
  GeneratorSigns generator_signs;
  FallbackContext fallback;
  // An update of fewer bytes is OpenSSL's context's alone, and counted there.
  size_t pass_below;
  size_t usual_pass_below;
  Counters::Slot *counts;
  // CTR: how much of the stream small updates were, and when that is to be looked at:
  // see keystream_ahead.h. While there is more than nothing there, no update passes.
  uint64_t stream_bytes, look_at;
  struct StreamAhead *ahead;

  bool encrypting;
  bool key_set;
  bool key_was_set_encrypting;  // OpenSSL's key schedule is for that direction
  bool tls_records;             // OpenSSL does TLS's padding and MAC within
  bool counts_bits;             // CFB1: lengths are in bits
  bool message_is_over;         // ciphertext stealing: it has had its one update
  uint8_t *key;                 // kMostKeyBytes, in key memory
  // Bytes that OpenSSL's context holds back: part of a block, or the last
  // block while decrypting with padding.
  size_t held_bytes;

  // After bulk on a device, OpenSSL's context is given the next IV as if it
  // were a new one. What it then calls its first IV is not; this is.
  bool iv_set;
  bool first_iv_is_here;
  uint8_t first_iv[kBlockBytes];

  // ChaCha20, of which OpenSSL's context does not tell: the counter of the
  // block that the stream is in, the nonce, and the bytes used of that block.
  uint8_t chacha20_iv[kBlockBytes];
  unsigned chacha20_used_bytes;
  // A new key without an IV came within a block: versions differ in what the
  // counter then is.
  bool chacha20_is_lost;

  // Authenticated modes: the IV, and what OpenSSL's context has had under it; and
  // of GCM and ChaCha20-Poly1305 the message, once a device has had a part of it.
  uint8_t aead_iv[128];
  size_t aead_iv_bytes;
  size_t openssl_iv_bytes;  // GCM: how long its context takes the next IV to be; 0: not known
  uint64_t aad_bytes, text_bytes;
  bool aead_is_over;  // no text until the next IV
  bool openssl_only;  // it makes the IVs, or TLS's records
  struct AeadMessage *message;
  uint8_t wanted_tag[16];  // decrypting
  size_t wanted_tag_bytes;
  bool has_made_tag;  // encrypting, and has not decrypted since; not CCM
  bool tag_is_ours;   // and not that of OpenSSL's context
  uint8_t tag[16];
  CcmState ccm;

  const Algorithm &algorithm() const { return kAlgorithms[index]; }
  // OpenSSL's context took it in the direction that `encrypting` says. 16, 24, 32 or 64
  // bytes, which the compiler copies without a call.
  void set_key(const uint8_t *new_key, size_t bytes) {
    std::memcpy(key, new_key, 16);
    if (bytes > 32) std::memcpy(key + 16, new_key + 16, 32);
    std::memcpy(key + bytes - 16, new_key + bytes - 16, 16);
    key_set = true;
    key_was_set_encrypting = encrypting;
  }
  // See held_bytes.
  bool is_block_mode() const { return algorithm().is_block_mode(); }
};

struct CipherContext : CipherState {
  secure::KeyMemory key_memory;
};

// What OpenSSL's context tells about the stream.
struct StreamState {
  uint8_t iv[kBlockBytes];  // of the next block
  unsigned used_bytes;      // CTR, CFB, OFB, ChaCha20: of the last unit's keystream
  unsigned padding;
};
bool ask_state(CipherContext &context, StreamState *state);
// Gives it the IV of the block that comes next.
bool set_next_iv(CipherContext &context, const uint8_t iv[kBlockBytes]);

// `bytes` more of the keystream were used.
void advance_chacha20_stream(CipherContext &context, uint64_t bytes);

// Makes OpenSSL's context, without a key, and all that goes with it; nullptr
// with an error raised.
CipherContext *new_cipher_context(Provider &provider, int index);
CipherContext *copy_cipher_context(CipherContext &context);
// Wipes and frees; nullptr is allowed.
void free_cipher_context(CipherContext *context);

// The operations of OSSL_DISPATCH, which return 1 or, with an error raised, 0. What the
// authenticated modes have instead of some of them is in aead.h.
int init_stream(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], bool encrypt);
int get_stream_params(CipherContext &context, OSSL_PARAM params[]);
int set_stream_params(CipherContext &context, const OSSL_PARAM params[]);
int finish_stream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size);
// kPassing is what algorithm() says.
template <Passing kPassing>
int update_cipher(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                  const uint8_t *in, size_t in_bytes);
// One call for whole blocks (CTR: any length), beside what update holds back.
int cipher_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                   const uint8_t *in, size_t in_bytes);

// Feeds OpenSSL's context; any length.
bool feed(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
          size_t in_bytes);

// Who does a request.
enum class Side {
  kOpenssl,  // its context, on the caller's thread
  kCores,    // several cores, by the library: in the same CPU time
  kDevice,
};

// As far as can be told for nothing. Authenticated modes and XTS are never for several cores.
Side side_of(const CipherContext &context, const uint8_t *out, const uint8_t *in, size_t in_bytes);
inline bool is_for_device(const CipherContext &context, const uint8_t *out, const uint8_t *in,
                          size_t in_bytes) {
  return side_of(context, out, in, in_bytes) == Side::kDevice;
}

// What became of bulk that another side might do.
enum class Bulk {
  kDone,      // all was written
  kNotTaken,  // nothing was written, and OpenSSL's context may do it
  kFailed,    // an error was raised
  kWrongTag,  // a message with a tag: the tag is wrong, and the output wiped
};

// Another device or the library's CPU did what a device was to do. `a_device_failed`: one
// had taken it, and could not do it or all of it.
void note_that_others_took_over(Provider &provider, bool a_device_failed, bool device_did_a_part);

// What becomes of a request that no device can have, and why: kNotTaken, or where a device
// must do it kFailed, which is counted.
Bulk do_without_device(Provider &provider, const char *why);

// Runs one message, and nothing else. iv_bytes and tag_bytes: 0 for the usual.
Bulk run_on_device(CipherContext &context, lc_cipher cipher, const lc_message &message,
                   uint32_t iv_bytes, uint32_t tag_bytes = 0);

// Runs whole units on a device or several cores, out == in or apart, starting at `iv` (in the
// direction of the context), and sets OpenSSL's context behind them: it then
// holds nothing back.
// XTS: `bytes` are a data unit, and OpenSSL's context stays as it is.
// Ciphertext stealing: they are a message.
Bulk run_bulk(CipherContext &context, Side side, const uint8_t iv[kBlockBytes], uint8_t *out,
              const uint8_t *in, size_t bytes);

}  // namespace lanecrypt::provider
