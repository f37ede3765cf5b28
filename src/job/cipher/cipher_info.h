// The properties of each cipher of the ABI, as data: code that depends on how a cipher works reads
// its row here, instead of having its own switch. The rows are combined from the block ciphers
// (block_cipher.h) and the properties that each mode has with any of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "job/cipher/block_cipher.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

// What replaces the IV where a later part of a message begins.
enum class Continuation : uint8_t {
  kNothing,        // the part needs nothing
  kCounter,        // the IV plus the number of preceding blocks
  kCiphertext,     // the preceding 16 bytes of ciphertext
  kKeystream,      // the preceding 16 bytes of key stream
  kDataUnits,      // the IV plus the number of preceding data units
  kChaChaCounter,  // the counter plus the number of preceding blocks of 64 bytes
  kMessage,        // the part takes it from its message, which is split at multiples of 64 bytes
  kMac             // the MAC so far, of a message whose header comes first
};

// `CipherInfo` is a row of the table. A row leaves out fields with the default value.
struct CipherInfo {
  lc_cipher cipher = LC_AES_ECB;
  const BlockCipher *block = nullptr;  // none: ChaCha20
  Mode mode = Mode::kEcb;
  // `name` is that of the kernels: BLOCK_FORM_NAME, with _encrypt or _decrypt if the two directions
  // differ, unless they are named below. `title` is the name for people.
  const char *name = nullptr;
  const char *title = nullptr;
  // OpenSSL's name is BLOCK-BITS-OPENSSL, or OPENSSL for what is not a block cipher. `openssl_cts`
  // is its parameter for ciphertext stealing, or nullptr.
  const char *openssl = nullptr;
  const char *openssl_cts = nullptr;
  uint8_t key_sizes = 0;        // of one key
  uint8_t keys = 1;             // concatenated in lc_message.key
  uint8_t iv_bytes = 0;         // the default length; 0: no IV
  uint8_t granule_bytes = 1;    // a message is a multiple of this
  uint8_t least_bytes = 0;      // and, unless it is empty, at least this
  bool is_own_inverse = false;  // decryption is encryption
  bool inverts = false;         // decryption uses the inverse of the block cipher
  // Each block depends on the one before it, so one thread processes a message.
  bool encrypt_is_chain = false, decrypt_is_chain = false;
  bool is_aead = false;
  Continuation continuation = Continuation::kNothing;
  // The bytes at the end of a message that must not be split: ciphertext stealing exchanges bytes
  // of the last two blocks.
  uint8_t tail_bytes = 0;
  // Kernels that several modes share: BLOCK_FORM_...
  const char *encrypt_kernel = nullptr, *decrypt_kernel = nullptr;
  // CFB or OFB: the block cipher encrypts a register, and its output is added to the text.
  bool is_feedback = false;
  // No device has kernels for it.
  bool is_cpu_only = false;
  // The longest text under one IV, if a 32-bit counter bounds it: beyond it the key stream would
  // repeat (SP 800-38D, section 5.2.1.1; RFC 8439, section 2.8).
  uint64_t most_text_bytes = UINT64_MAX;

  constexpr bool is_block_cipher() const { return mode < Mode::kChaCha20; }
  // Returns the prefix of a mode's name: "AES-256-", "SM4-", or nothing.
  std::string family(uint32_t key_bytes) const {
    if (block == nullptr) return {};
    return std::string(block->title) + "-" +
           (block->names_bits() ? std::to_string(8 * key_bytes / keys) + "-" : std::string());
  }
  std::string full_title(uint32_t key_bytes) const { return family(key_bytes) + title; }
  std::string openssl_name(uint32_t key_bytes) const { return family(key_bytes) + openssl; }
  constexpr bool steals() const { return tail_bytes != 0; }
  constexpr bool has_data_units() const { return continuation == Continuation::kDataUnits; }
  constexpr bool is_chain(lc_direction direction) const {
    return direction == LC_ENCRYPT ? encrypt_is_chain : decrypt_is_chain;
  }
  // Whether the output at one offset depends on input at a lower offset, so that parallel threads
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

// XTS by either standard (IEEE 1619, GB/T 17964).
constexpr CipherInfo xts(Mode mode, const char *name, const char *title) {
  return {.mode = mode,
          .name = name,
          .title = title,
          .openssl = "XTS",
          .key_sizes = kKey128 | kKey256,
          .keys = 2,
          .iv_bytes = 16,
          .granule_bytes = 1,
          .least_bytes = 16,
          .inverts = true,
          .continuation = Continuation::kDataUnits};
}

// CFB (SP 800-38A, section 6.3). Only the CPU has segments of 8 bits or 1 bit: each takes a
// complete call of the block cipher.
constexpr CipherInfo cfb(Mode mode, const char *name, const char *title, const char *openssl) {
  return {.mode = mode,
          .name = name,
          .title = title,
          .openssl = openssl,
          .key_sizes = kAnyKey,
          .iv_bytes = 16,
          .granule_bytes = 1,
          .least_bytes = 1,
          .encrypt_is_chain = true,
          .continuation = Continuation::kCiphertext,
          .encrypt_kernel = "feedback",
          .decrypt_kernel = "cfb_decrypt",
          .is_feedback = true,
          .is_cpu_only = mode != Mode::kCfb128};
}

// CBC with ciphertext stealing (addendum to SP 800-38A). CBC's kernels do all but the end.
constexpr CipherInfo cbc_cts(Mode mode, const char *name, const char *title,
                             const char *openssl_cts) {
  return {.mode = mode,
          .name = name,
          .title = title,
          .openssl = "CBC-CTS",
          .openssl_cts = openssl_cts,
          .key_sizes = kAnyKey,
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

// Indexed by Mode, without a cipher.
inline constexpr CipherInfo kModes[] = {
    {.mode = Mode::kEcb,
     .name = "ecb",
     .title = "ECB",
     .openssl = "ECB",
     .key_sizes = kAnyKey,
     .iv_bytes = 0,
     .granule_bytes = 16,
     .least_bytes = 16,
     .inverts = true,
     .continuation = Continuation::kNothing},
    {.mode = Mode::kCbc,
     .name = "cbc",
     .title = "CBC",
     .openssl = "CBC",
     .key_sizes = kAnyKey,
     .iv_bytes = 16,
     .granule_bytes = 16,
     .least_bytes = 16,
     .inverts = true,
     .encrypt_is_chain = true,
     .continuation = Continuation::kCiphertext},
    {.mode = Mode::kCtr,
     .name = "ctr",
     .title = "CTR",
     .openssl = "CTR",
     .key_sizes = kAnyKey,
     .iv_bytes = 16,
     .granule_bytes = 1,
     .least_bytes = 1,
     .is_own_inverse = true,
     .continuation = Continuation::kCounter},
    xts(Mode::kXts, "xts", "XTS"),
    xts(Mode::kXtsGb, "xts_gb", "XTS-GB"),  // GB/T 17964: the bits of each tweak byte are reversed
    cfb(Mode::kCfb128, "cfb128", "CFB128", "CFB"),
    cfb(Mode::kCfb8, "cfb8", "CFB8", "CFB8"),
    cfb(Mode::kCfb1, "cfb1", "CFB1", "CFB1"),
    {.mode = Mode::kOfb,
     .name = "ofb",
     .title = "OFB",
     .openssl = "OFB",
     .key_sizes = kAnyKey,
     .iv_bytes = 16,
     .granule_bytes = 1,
     .least_bytes = 1,
     .is_own_inverse = true,
     .encrypt_is_chain = true,
     .decrypt_is_chain = true,
     .continuation = Continuation::kKeystream,
     .encrypt_kernel = "feedback",
     .decrypt_kernel = "feedback",
     .is_feedback = true},
    cbc_cts(Mode::kCs1, "cs1", "CBC-CS1", "CS1"),
    cbc_cts(Mode::kCs2, "cs2", "CBC-CS2", "CS2"),
    cbc_cts(Mode::kCs3, "cs3", "CBC-CS3", "CS3"),
    {.mode = Mode::kGcm,
     .name = "gcm",
     .title = "GCM",
     .openssl = "GCM",
     .key_sizes = kAnyKey,
     .iv_bytes = 12,
     .granule_bytes = 1,
     .least_bytes = 0,
     .is_aead = true,
     .continuation = Continuation::kMessage,
     .most_text_bytes = (uint64_t{1} << 36) - 32},
    {.mode = Mode::kCcm,
     .name = "ccm",
     .title = "CCM",
     .openssl = "CCM",
     .key_sizes = kAnyKey,
     .iv_bytes = 12,
     .granule_bytes = 1,
     .least_bytes = 0,
     .encrypt_is_chain = true,
     .decrypt_is_chain = true,
     .is_aead = true,
     .continuation = Continuation::kMac,
     .encrypt_kernel = "ccm",
     .decrypt_kernel = "ccm"},
    {.mode = Mode::kChaCha20,
     .name = "chacha20",
     .title = "ChaCha20",
     .openssl = "ChaCha20",
     .key_sizes = kKey256,
     .iv_bytes = 16,
     .granule_bytes = 1,
     .least_bytes = 1,
     .is_own_inverse = true,
     .continuation = Continuation::kChaChaCounter},
    {.mode = Mode::kChaCha20Poly1305,
     .name = "chacha20_poly1305",
     .title = "ChaCha20-Poly1305",
     .openssl = "ChaCha20-Poly1305",
     .key_sizes = kKey256,
     .iv_bytes = 12,
     .granule_bytes = 1,
     .least_bytes = 0,
     .is_aead = true,
     .continuation = Continuation::kMessage,
     .most_text_bytes = (uint64_t{1} << 38) - 64},
};
inline constexpr int kModeCount = sizeof kModes / sizeof kModes[0];

constexpr int count_cipher_infos() {
  int count = 2;  // ChaCha20's
  for (const BlockCipher &block : kBlockCiphers) count += block.mode_count;
  return count;
}
inline constexpr int kCipherInfoCount = count_cipher_infos();

constexpr CipherInfo make_cipher_info(int cipher, Mode mode) {
  CipherInfo info = kModes[static_cast<int>(mode)];
  info.cipher = static_cast<lc_cipher>(cipher);
  return info;
}

constexpr std::array<CipherInfo, kCipherInfoCount> make_cipher_infos() {
  std::array<CipherInfo, kCipherInfoCount> infos = {};
  for (const BlockCipher &block : kBlockCiphers)
    for (int n = 0; n < block.mode_count; ++n) {
      CipherInfo &info = infos[block.first + n] = make_cipher_info(block.first + n, block.modes[n]);
      info.block = &block;
      info.key_sizes &= block.key_sizes;
    }
  for (const auto &[cipher, mode] : {std::pair(LC_CHACHA20, Mode::kChaCha20),
                                     std::pair(LC_CHACHA20_POLY1305, Mode::kChaCha20Poly1305)})
    infos[cipher] = make_cipher_info(cipher, mode);
  return infos;
}

// Indexed by lc_cipher.
inline constexpr std::array<CipherInfo, kCipherInfoCount> kCipherInfos = make_cipher_infos();

constexpr bool tables_are_in_order() {
  for (int n = 0; n < kModeCount; ++n)
    if (kModes[n].mode != static_cast<Mode>(n)) return false;
  for (int n = 0; n < kCipherInfoCount; ++n)
    if (kCipherInfos[n].cipher != n || kCipherInfos[n].name == nullptr) return false;
  return true;
}
static_assert(tables_are_in_order());

constexpr const CipherInfo &cipher_info(lc_cipher cipher) { return kCipherInfos[cipher]; }

// Returns another mode of the block cipher, which must have it.
constexpr lc_cipher another_mode(lc_cipher cipher, Mode mode) {
  for (const CipherInfo &info : kCipherInfos)
    if (info.block == cipher_info(cipher).block && info.mode == mode) return info.cipher;
  return cipher;
}

}  // namespace lanecrypt
