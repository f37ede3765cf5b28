// One cipher operation. OpenSSL's own context holds the state and does all that is small.
// Around it, bulk goes to a device or to several cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "job/placement.h"
#include "provider/cipher/algorithms.h"
#include "provider/cipher/fallback_cipher.h"
#include "provider/provider.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {

inline constexpr size_t kBlockBytes = 16;

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

// Whether it is initialised as a random generator initialises: see random_generator.h.
enum class GeneratorSigns : uint8_t { kNew, kAsGenerators, kNone };

inline constexpr size_t kMostKeyBytes = 64;

// Plain data, all zeros at first. It is copied with its context.
struct CipherState {
  Provider *provider;
  int index;  // into kAlgorithms
  GeneratorSigns generator_signs;
  FallbackContext fallback;
  // OpenSSL's context alone does an update of fewer bytes, which is counted there.
  size_t pass_below;
  size_t usual_pass_below;
  Counters::Line *counts;
  // CTR: how many bytes of the stream came in small updates, and at how many to look at
  // the stream: see keystream_ahead.h. While there is keystream, no update passes.
  uint64_t stream_bytes, look_at;
  struct StreamAhead *ahead;

  bool encrypting;
  bool key_set;
  bool key_was_set_encrypting;  // OpenSSL's key schedule is for that direction
  bool tls_records;             // OpenSSL does TLS's padding and MAC within
  bool counts_bits;             // CFB1: lengths are in bits
  bool message_is_over;         // ciphertext stealing: it has had its one update
  uint8_t *key;                 // kMostKeyBytes, in key memory
  // Bytes that OpenSSL's context holds back: part of a block, or the last block of
  // decryption with padding.
  size_t held_bytes;

  // After bulk on a device, OpenSSL's context is given the next IV as if a new stream
  // began. What it then calls its first IV is wrong. This is the first IV.
  bool iv_set;
  bool first_iv_is_here;
  uint8_t first_iv[kBlockBytes];

  // ChaCha20, about which OpenSSL's context does not tell: the counter of the block in
  // which the stream is, the nonce, and how many bytes of that block were used.
  uint8_t chacha20_iv[kBlockBytes];
  unsigned chacha20_used_bytes;
  // A new key without an IV came within a block. Versions of OpenSSL differ in what the
  // counter then is.
  bool chacha20_is_lost;

  // Authenticated modes: the IV, and what OpenSSL's context has had under it. For GCM and
  // ChaCha20-Poly1305 also the message, once a device has had a part of it.
  uint8_t aead_iv[128];
  size_t aead_iv_bytes;
  size_t openssl_iv_bytes;  // GCM: how long its context takes the next IV to be; 0: not known
  uint64_t aad_bytes, text_bytes;
  bool aead_is_over;  // no text until the next IV
  bool openssl_only;  // OpenSSL makes the IVs, or it is TLS's records
  struct AeadMessage *message;
  uint8_t wanted_tag[16];  // decrypting
  size_t wanted_tag_bytes;
  bool has_made_tag;  // encrypting, and has not decrypted since; not CCM
  bool tag_is_ours;   // and OpenSSL's context has another
  uint8_t tag[16];
  CcmState ccm;

  const Algorithm &algorithm() const { return kAlgorithms[index]; }
  // OpenSSL's context took the key in the direction that `encrypting` says. 16, 24, 32 or
  // 64 bytes, which the compiler copies without a call.
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

// What OpenSSL's context tells about its stream.
struct StreamState {
  uint8_t iv[kBlockBytes];  // of the next block
  unsigned used_bytes;      // CTR, CFB, OFB, ChaCha20: of the last unit's keystream
  unsigned padding;
};
bool ask_state(CipherContext &context, StreamState *state);
// Gives OpenSSL's context the IV of the next block.
bool set_next_iv(CipherContext &context, const uint8_t iv[kBlockBytes]);

// The stream has used `bytes` more of its keystream.
void advance_chacha20_stream(CipherContext &context, uint64_t bytes);

// Makes OpenSSL's context, without a key, and all that belongs to it. nullptr with an
// error raised.
CipherContext *new_cipher_context(Provider &provider, int index);
CipherContext *copy_cipher_context(CipherContext &context);
// Wipes and frees; nullptr is allowed.
void free_cipher_context(CipherContext *context);

// The operations of OSSL_DISPATCH. They return 1, or 0 with an error raised. Those that
// authenticated modes have instead are in aead.h.
int init_stream(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], bool encrypt);
int get_stream_params(CipherContext &context, OSSL_PARAM params[]);
int set_stream_params(CipherContext &context, const OSSL_PARAM params[]);
int finish_stream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size);
// kPassing is what algorithm() says.
template <Passing kPassing>
int update_cipher(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                  const uint8_t *in, size_t in_bytes);
// An update of a stream, for which a device or several cores were chosen.
int update_in_bulk(CipherContext &context, const Placement &place, uint8_t *out, size_t *out_bytes,
                   size_t out_size, const uint8_t *in, size_t in_bytes);
// One call for whole blocks (CTR: any length), apart from what update holds back.
int cipher_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                   const uint8_t *in, size_t in_bytes);

// Gives data of any length to OpenSSL's context.
bool feed(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
          size_t in_bytes);

// Where a request is done, as far as can be told without any cost. LC_CHOICE_CPU: OpenSSL's
// context, on the caller's thread. LC_CHOICE_CORES: several cores, by the library in the same CPU
// time; never for authenticated modes and XTS. LC_CHOICE_DEVICE: a device. Asked once for each
// request.
Placement place_of(const CipherContext &context, const uint8_t *out, const uint8_t *in,
                   size_t in_bytes);

// What became of bulk that another side was to do.
enum class Bulk {
  kDone,      // all output was written
  kNotTaken,  // nothing was written, and OpenSSL's context may do it
  kFailed,    // an error was raised
  kWrongTag,  // a message with a tag: the tag is wrong, and the output wiped
};

// Notes that another device or the library's CPU did what a device was to do.
// `a_device_failed`: a device had taken it, and could not do all of it.
void note_that_others_took_over(Provider &provider, bool a_device_failed, bool device_did_a_part);

// What becomes of a request that no device can do, and why. kNotTaken; or, if a device
// must do it, kFailed, which is counted.
Bulk do_without_device(Provider &provider, const char *why);

// Runs one message, and does nothing else. `device` is as a Placement has it. iv_bytes and
// tag_bytes: 0 for the usual number.
Bulk run_on_device(CipherContext &context, uint32_t device, lc_cipher cipher,
                   const lc_message &message, uint32_t iv_bytes, uint32_t tag_bytes = 0);

// Runs whole units at `place`, a device or several cores, out == in or apart, starting at `iv` (in
// the direction of the context). Then it sets OpenSSL's context behind them, which holds nothing
// back any more.
// XTS: `bytes` are a data unit, and OpenSSL's context stays as it is.
// Ciphertext stealing: they are a message.
Bulk run_bulk(CipherContext &context, const Placement &place, const uint8_t iv[kBlockBytes],
              uint8_t *out, const uint8_t *in, size_t bytes);

}  // namespace lanecrypt::provider
