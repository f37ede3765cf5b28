// What each cipher of the ABI is, as data: who needs to know a mode's ways asks
// its row here, and nobody tells modes apart by a switch of his own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

// The sizes of a key that a mode takes, as a set.
enum KeySizes : uint8_t { kKey128 = 1, kKey192 = 2, kKey256 = 4, kAnyAesKey = 7 };

// What stands in the place of the IV where a later part of a message begins.
enum class Continuation : uint8_t {
  kNothing,        // the part needs nothing
  kCounter,        // the IV plus the number of blocks before
  kCiphertext,     // the last 16 bytes of ciphertext before
  kKeystream,      // the last 16 bytes of keystream before
  kDataUnits,      // the IV plus the number of data units before
  kChaChaCounter,  // the counter plus the number of blocks of 64 bytes before
  kMessage,        // the part finds it in its message; it is cut every 64 bytes
  kMac             // the MAC so far, of a message whose header comes first
};

// A row leaves out what has the value that stands here.
struct Mode {
  lc_cipher cipher;
  // Of the kernels: aes_FORM_NAME, with _encrypt or _decrypt where the two
  // directions differ, unless they are named below; and for people.
  const char *name;
  const char *title;
  // OpenSSL's name is AES-BITS-OPENSSL, or OPENSSL alone for what is not AES;
  // openssl_cts is its parameter for ciphertext stealing, or nullptr.
  const char *openssl;
  const char *openssl_cts = nullptr;
  bool is_aes;
  uint8_t key_sizes;            // of one key
  uint8_t keys = 1;             // that stand one behind the other in lc_message.key
  uint8_t iv_bytes;             // the usual number; 0: it has none
  uint8_t granule_bytes;        // a message is a multiple of this
  uint8_t least_bytes;          // and, unless it is empty, at least this
  bool is_own_inverse = false;  // decryption is encryption
  bool inverts = false;         // decryption uses the inverse of the block cipher
  // Each block waits for the one before it, so that a message is one lane's work.
  bool encrypt_is_chain = false, decrypt_is_chain = false;
  bool is_aead = false;
  Continuation continuation;
  // What stays together at the end of a message that is cut: ciphertext
  // stealing exchanges bytes of the last two blocks.
  uint8_t tail_bytes = 0;
  // Kernels that several modes share: aes_FORM_... Those of feedback are told
  // how many bits a block of ciphertext has; 0 for OFB.
  const char *encrypt_kernel = nullptr, *decrypt_kernel = nullptr;
  int16_t feedback_bits = -1;
  // The longest text under one IV, where a counter of 32 bits bounds it: after that its
  // keystream would come again (SP 800-38D, 5.2.1.1; RFC 8439, 2.8).
  uint64_t most_text_bytes = UINT64_MAX;

  constexpr bool is_feedback() const { return feedback_bits >= 0; }
  constexpr bool steals() const { return tail_bytes != 0; }
  constexpr bool is_chain(lc_direction direction) const {
    return direction == LC_ENCRYPT ? encrypt_is_chain : decrypt_is_chain;
  }
  // Output at one place depends on input before it, so that parallel lanes
  // must not overwrite their input.
  constexpr bool reads_back(lc_direction direction) const {
    return !is_chain(direction) && continuation == Continuation::kCiphertext;
  }
  constexpr bool takes_key(uint32_t key_bytes) const {
    const uint32_t one = key_bytes / keys;
    if (key_bytes % keys != 0) return false;
    return (one == 16 && (key_sizes & kKey128)) || (one == 24 && (key_sizes & kKey192)) ||
           (one == 32 && (key_sizes & kKey256));
  }
};

constexpr Mode cfb(lc_cipher cipher, const char *name, const char *title, const char *openssl,
                   int16_t feedback_bits) {
  return {.cipher = cipher,
          .name = name,
          .title = title,
          .openssl = openssl,
          .is_aes = true,
          .key_sizes = kAnyAesKey,
          .iv_bytes = 16,
          .granule_bytes = 1,
          .least_bytes = 1,
          .encrypt_is_chain = true,
          .continuation = Continuation::kCiphertext,
          .encrypt_kernel = "feedback",
          .decrypt_kernel = "cfb_decrypt",
          .feedback_bits = feedback_bits};
}

// CBC with ciphertext stealing, which leaves CBC's kernels all but the end.
constexpr Mode cbc_cts(lc_cipher cipher, const char *name, const char *title,
                       const char *openssl_cts) {
  return {.cipher = cipher,
          .name = name,
          .title = title,
          .openssl = "CBC-CTS",
          .openssl_cts = openssl_cts,
          .is_aes = true,
          .key_sizes = kAnyAesKey,
          .iv_bytes = 16,
          .granule_bytes = 1,
          .least_bytes = 16,
          .inverts = true,
          .encrypt_is_chain = true,
          .continuation = Continuation::kCiphertext,
          .tail_bytes = 32,
          .encrypt_kernel = "cbc_encrypt",
          .decrypt_kernel = "cbc_decrypt"};
}

// By the numbers of lc_cipher.
inline constexpr Mode kModes[] = {
    {.cipher = LC_AES_ECB,
     .name = "ecb",
     .title = "ECB",
     .openssl = "ECB",
     .is_aes = true,
     .key_sizes = kAnyAesKey,
     .iv_bytes = 0,
     .granule_bytes = 16,
     .least_bytes = 16,
     .inverts = true,
     .continuation = Continuation::kNothing},
    {.cipher = LC_AES_CBC,
     .name = "cbc",
     .title = "CBC",
     .openssl = "CBC",
     .is_aes = true,
     .key_sizes = kAnyAesKey,
     .iv_bytes = 16,
     .granule_bytes = 16,
     .least_bytes = 16,
     .inverts = true,
     .encrypt_is_chain = true,
     .continuation = Continuation::kCiphertext},
    {.cipher = LC_AES_CTR,
     .name = "ctr",
     .title = "CTR",
     .openssl = "CTR",
     .is_aes = true,
     .key_sizes = kAnyAesKey,
     .iv_bytes = 16,
     .granule_bytes = 1,
     .least_bytes = 1,
     .is_own_inverse = true,
     .continuation = Continuation::kCounter},
    {.cipher = LC_AES_XTS,
     .name = "xts",
     .title = "XTS",
     .openssl = "XTS",
     .is_aes = true,
     .key_sizes = kKey128 | kKey256,
     .keys = 2,
     .iv_bytes = 16,
     .granule_bytes = 1,
     .least_bytes = 16,
     .inverts = true,
     .continuation = Continuation::kDataUnits},
    cfb(LC_AES_CFB128, "cfb128", "CFB128", "CFB", 128),
    cfb(LC_AES_CFB8, "cfb8", "CFB8", "CFB8", 8),
    cfb(LC_AES_CFB1, "cfb1", "CFB1", "CFB1", 1),
    {.cipher = LC_AES_OFB,
     .name = "ofb",
     .title = "OFB",
     .openssl = "OFB",
     .is_aes = true,
     .key_sizes = kAnyAesKey,
     .iv_bytes = 16,
     .granule_bytes = 1,
     .least_bytes = 1,
     .is_own_inverse = true,
     .encrypt_is_chain = true,
     .decrypt_is_chain = true,
     .continuation = Continuation::kKeystream,
     .encrypt_kernel = "feedback",
     .decrypt_kernel = "feedback",
     .feedback_bits = 0},
    cbc_cts(LC_AES_CBC_CS1, "cs1", "CBC-CS1", "CS1"),
    cbc_cts(LC_AES_CBC_CS2, "cs2", "CBC-CS2", "CS2"),
    cbc_cts(LC_AES_CBC_CS3, "cs3", "CBC-CS3", "CS3"),
    {.cipher = LC_AES_GCM,
     .name = "gcm",
     .title = "GCM",
     .openssl = "GCM",
     .is_aes = true,
     .key_sizes = kAnyAesKey,
     .iv_bytes = 12,
     .granule_bytes = 1,
     .least_bytes = 0,
     .is_aead = true,
     .continuation = Continuation::kMessage,
     .most_text_bytes = (uint64_t{1} << 36) - 32},
    {.cipher = LC_AES_CCM,
     .name = "ccm",
     .title = "CCM",
     .openssl = "CCM",
     .is_aes = true,
     .key_sizes = kAnyAesKey,
     .iv_bytes = 12,
     .granule_bytes = 1,
     .least_bytes = 0,
     .encrypt_is_chain = true,
     .decrypt_is_chain = true,
     .is_aead = true,
     .continuation = Continuation::kMac,
     .encrypt_kernel = "ccm",
     .decrypt_kernel = "ccm"},
    {.cipher = LC_CHACHA20,
     .name = "chacha20",
     .title = "ChaCha20",
     .openssl = "ChaCha20",
     .is_aes = false,
     .key_sizes = kKey256,
     .iv_bytes = 16,
     .granule_bytes = 1,
     .least_bytes = 1,
     .is_own_inverse = true,
     .continuation = Continuation::kChaChaCounter},
    {.cipher = LC_CHACHA20_POLY1305,
     .name = "chacha20_poly1305",
     .title = "ChaCha20-Poly1305",
     .openssl = "ChaCha20-Poly1305",
     .is_aes = false,
     .key_sizes = kKey256,
     .iv_bytes = 12,
     .granule_bytes = 1,
     .least_bytes = 0,
     .is_aead = true,
     .continuation = Continuation::kMessage,
     .most_text_bytes = (uint64_t{1} << 38) - 64},
};
inline constexpr int kModeCount = sizeof kModes / sizeof kModes[0];

constexpr bool modes_are_in_order() {
  for (int n = 0; n < kModeCount; ++n)
    if (kModes[n].cipher != n) return false;
  return true;
}
static_assert(modes_are_in_order());

constexpr const Mode &mode_of(lc_cipher cipher) { return kModes[cipher]; }

}  // namespace lanecrypt
