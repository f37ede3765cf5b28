// The block ciphers, and what host and device agree on for each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

// X(name, NAME) for each, in the order of src/job/cipher/block_cipher.h.
#define BLOCK_CIPHERS(X) X(aes, AES) X(sm4, SM4) X(camellia, CAMELLIA) X(aria, ARIA)

// Modes that not every cipher has, so that their kernels are left out of others: MODES of
// each, which agrees with its ways in src/job/cipher/block_cipher.h.
#define BLOCK_HAS_XTS 1u
#define BLOCK_HAS_XTS_GB 2u
#define BLOCK_HAS_STEALING 4u
#define BLOCK_HAS_CCM 8u

// Words of a key schedule, and of a bitsliced one.
#define BLOCK_MOST_SCHEDULE_WORDS 72u

// rounds + 1 round keys, for decryption those of the equivalent inverse cipher (FIPS
// 197, 5.3.5).
#define AES_SCHEDULE_WORDS 64u
#define AES_PLANE_WORDS 1920u  // 15 * 128
#define AES_MODES (BLOCK_HAS_XTS | BLOCK_HAS_STEALING | BLOCK_HAS_CCM)

// A word a round, for decryption in reverse.
#define SM4_SCHEDULE_WORDS 32u
#define SM4_PLANE_WORDS 1024u
#define SM4_MODES (BLOCK_HAS_XTS | BLOCK_HAS_XTS_GB | BLOCK_HAS_CCM)

// Four words a pair of round keys or of FL's, and at both ends: 13 or 17 times.
#define CAMELLIA_SCHEDULE_WORDS 68u
#define CAMELLIA_PLANE_WORDS 2176u
#define CAMELLIA_MODES 0u

// rounds + 1 round keys.
#define ARIA_SCHEDULE_WORDS 68u
#define ARIA_PLANE_WORDS 2176u
#define ARIA_MODES BLOCK_HAS_CCM
