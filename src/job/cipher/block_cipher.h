// The block ciphers, as data. A block has 16 bytes. A mode works with any of them (cipher_info.h),
// so adding a cipher takes a row here and its kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

// A set of key sizes that a cipher or a mode supports.
enum KeySizes : uint8_t { kKey128 = 1, kKey192 = 2, kKey256 = 4, kAnyKey = 7 };

// The modes of operation.
enum class Mode : uint8_t {
  kEcb,
  kCbc,
  kCtr,
  kXts,
  kXtsGb,
  kCfb128,
  kCfb8,
  kCfb1,
  kOfb,
  kCs1,
  kCs2,
  kCs3,
  kGcm,
  kCcm,
  kChaCha20,  // the last two are not modes of a block cipher
  kChaCha20Poly1305
};

// In the order of BLOCK_CIPHERS in kernels/block/ciphers.h.
struct BlockCipher {
  const char *name;  // of its kernels: NAME_FORM_MODE
  // For people: TITLE-BITS-MODE, or TITLE-MODE if keys have one size. For OpenSSL it is used in any
  // case.
  const char *title;
  uint8_t key_sizes;
  // The kernels' number of rounds, for keys of 128, 192 and 256 bits.
  uint8_t rounds[3];
  // The supported modes, from this value of lc_cipher on.
  lc_cipher first;
  int mode_count;
  Mode modes[13];
  // Encryption in XTS requires two keys that differ, as in SP 800-38E's guidance and OpenSSL.
  bool xts_keys_differ = false;
  // Whether bitsliced CTR has kernels with windows, which share rounds between many counters.
  bool has_sliced_windows = false;
  // The share of a large piece that bitsliced warps take while table-based ones do the rest, if the
  // block cipher runs forwards and if it runs backwards. 0: none.
  double concurrent_share = 0, inverse_concurrent_share = 0;
  // The same for unaligned texts: for ECB forwards and backwards, for one text of CTR, and for its
  // segments.
  struct {
    double ecb = 0, inverse_ecb = 0, ctr = 0, ctr_segments = 0;
  } unaligned_concurrent_share = {};
  // Whether there is a kernel for short GCM messages.
  bool has_short_gcm = false;

  constexpr bool has(Mode mode) const {
    for (int n = 0; n < mode_count; ++n)
      if (modes[n] == mode) return true;
    return false;
  }
  constexpr bool names_bits() const { return (key_sizes & (key_sizes - 1)) != 0; }
  constexpr uint32_t rounds_of(uint32_t key_bytes) const { return rounds[key_bytes / 8 - 2]; }
};

inline constexpr BlockCipher kBlockCiphers[] = {
    {.name = "aes",
     .title = "AES",
     .key_sizes = kAnyKey,
     .rounds = {10, 12, 14},
     .first = LC_AES_ECB,
     .mode_count = 13,
     .modes = {Mode::kEcb, Mode::kCbc, Mode::kCtr, Mode::kXts, Mode::kCfb128, Mode::kCfb8,
               Mode::kCfb1, Mode::kOfb, Mode::kCs1, Mode::kCs2, Mode::kCs3, Mode::kGcm, Mode::kCcm},
     .xts_keys_differ = true,
     .has_sliced_windows = true,
     // Measured on an H200 (docs/lab/aes-kernels.md). The inverse S-box has more gates.
     .concurrent_share = 0.12,
     .inverse_concurrent_share = 0.08,
     .unaligned_concurrent_share =
         {.ecb = 0.10, .inverse_ecb = 0.05, .ctr = 0.08, .ctr_segments = 0.10},
     .has_short_gcm = true},
    {.name = "sm4",
     .title = "SM4",
     .key_sizes = kKey128,
     .rounds = {8},  // four at a time
     .first = LC_SM4_ECB,
     .mode_count = 9,
     .modes = {Mode::kEcb, Mode::kCbc, Mode::kCtr, Mode::kCfb128, Mode::kOfb, Mode::kGcm,
               Mode::kCcm, Mode::kXts, Mode::kXtsGb}},
    {.name = "camellia",
     .title = "CAMELLIA",
     .key_sizes = kAnyKey,
     .rounds = {3, 4, 4},  // six at a time
     .first = LC_CAMELLIA_ECB,
     .mode_count = 5,
     .modes = {Mode::kEcb, Mode::kCbc, Mode::kCtr, Mode::kCfb128, Mode::kOfb}},
    {.name = "aria",
     .title = "ARIA",
     .key_sizes = kAnyKey,
     .rounds = {12, 14, 16},
     .first = LC_ARIA_ECB,
     .mode_count = 7,
     .modes = {Mode::kEcb, Mode::kCbc, Mode::kCtr, Mode::kCfb128, Mode::kOfb, Mode::kGcm,
               Mode::kCcm}},
};
inline constexpr int kBlockCipherCount = sizeof kBlockCiphers / sizeof kBlockCiphers[0];

}  // namespace lanecrypt
