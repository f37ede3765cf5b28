// The block ciphers, and the constants of each that host and device share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Expands X(name, NAME) for each cipher, in the order of src/job/cipher/block_cipher.h.
#define BLOCK_CIPHERS(X) X(aes, AES) X(sm4, SM4) X(camellia, CAMELLIA) X(aria, ARIA)

// Modes that only some ciphers have. The kernels of a mode are left out for the other ciphers. Each
// cipher's *_MODES must agree with its modes in src/job/cipher/block_cipher.h.
#define BLOCK_HAS_XTS 1u
#define BLOCK_HAS_XTS_GB 2u
#define BLOCK_HAS_STEALING 4u
#define BLOCK_HAS_CCM 8u

// The largest key schedule of all ciphers, in words.
#define BLOCK_MOST_SCHEDULE_WORDS 72u

// AES: rounds + 1 round keys of 4 words; for decryption, those of the equivalent inverse cipher
// (FIPS 197, 5.3.5).
#define AES_SCHEDULE_WORDS 64u
#define AES_PLANE_WORDS 1920u  // 15 * 128
#define AES_MODES (BLOCK_HAS_XTS | BLOCK_HAS_STEALING | BLOCK_HAS_CCM)

// SM4: one word per round, in reverse order for decryption.
#define SM4_SCHEDULE_WORDS 32u
#define SM4_PLANE_WORDS 1024u
#define SM4_MODES (BLOCK_HAS_XTS | BLOCK_HAS_XTS_GB | BLOCK_HAS_CCM)

// Camellia: four words for each pair of round keys, for each pair of FL keys, and for the whitening
// keys at both ends: 13 or 17 groups.
#define CAMELLIA_SCHEDULE_WORDS 68u
#define CAMELLIA_PLANE_WORDS 2176u
#define CAMELLIA_MODES 0u

// ARIA: rounds + 1 round keys of 4 words.
#define ARIA_SCHEDULE_WORDS 68u
#define ARIA_PLANE_WORDS 2176u
#define ARIA_MODES BLOCK_HAS_CCM
