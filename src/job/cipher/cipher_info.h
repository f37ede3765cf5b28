// What each cipher of the ABI is, as data: code that needs to know how a cipher works asks its row
// here, instead of a switch of its own. The rows are made of the block ciphers (block_cipher.h) and
// of what each mode is with any of them.
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
struct CipherInfo {
  lc_cipher cipher = LC_AES_ECB;
  const BlockCipher *block = nullptr;  // none: ChaCha20
  Mode mode = Mode::kEcb;
  // Of the kernels: BLOCK_FORM_NAME, with _encrypt or _decrypt where the two
  // directions differ, unless they are named below; and for people.
  const char *name = nullptr;
  const char *title = nullptr;
  // OpenSSL's name is BLOCK-BITS-OPENSSL, or OPENSSL alone for what is no block cipher;
  // openssl_cts is its parameter for ciphertext stealing, or nullptr.
  const char *openssl = nullptr;
  const char *openssl_cts = nullptr;
  uint8_t key_sizes = 0;        // of one key
  uint8_t keys = 1;             // that stand one behind the other in lc_message.key
  uint8_t iv_bytes = 0;         // the usual number; 0: it has none
  uint8_t granule_bytes = 1;    // a message is a multiple of this
  uint8_t least_bytes = 0;      // and, unless it is empty, at least this
  bool is_own_inverse = false;  // decryption is encryption
  bool inverts = false;         // decryption uses the inverse of the block cipher
  // Each block waits for the one before it, so that a message is one thread's work.
  bool encrypt_is_chain = false, decrypt_is_chain = false;
  bool is_aead = false;
  Continuation continuation = Continuation::kNothing;
  // What stays together at the end of a message that is cut: ciphertext
  // stealing exchanges bytes of the last two blocks.
  uint8_t tail_bytes = 0;
  // Kernels that several modes share: BLOCK_FORM_...
  const char *encrypt_kernel = nullptr, *decrypt_kernel = nullptr;
  // CFB or OFB: the block cipher runs on a register, and its output is added to the text.
  bool is_feedback = false;
  // No device has kernels for it.
  bool is_cpu_only = false;
  // The longest text under one IV, where a counter of 32 bits bounds it: after that its
  // keystream would come again (SP 800-38D, 5.2.1.1; RFC 8439, 2.8).
  uint64_t most_text_bytes = UINT64_MAX;

  constexpr bool is_block_cipher() const { return mode < Mode::kChaCha20; }
  // What stands before a mode's name: "AES-256-", "SM4-", nothing.
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
  // Output at one place depends on input before it, so that parallel threads
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

// XTS by either standard.
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

// CFB (SP 800-38A, 6.3). Segments of 8 bits or 1 bit are for the CPU alone: each of them takes a
// whole call of the block cipher.
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

// CBC with ciphertext stealing, which leaves CBC's kernels all but the end.
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

// By the numbers of Mode, without a cipher.
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
    xts(Mode::kXtsGb, "xts_gb", "XTS-GB"),  // GB/T 17964: bits of the tweak's bytes are turned
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

// By the numbers of lc_cipher.
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

// Another mode of its block cipher, which has it.
constexpr lc_cipher another_mode(lc_cipher cipher, Mode mode) {
  for (const CipherInfo &info : kCipherInfos)
    if (info.block == cipher_info(cipher).block && info.mode == mode) return info.cipher;
  return cipher;
}

}  // namespace lanecrypt
