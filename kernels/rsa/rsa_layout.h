// Constants and structures that the host and the RSA kernels share: the layout of a key in device
// memory, and the description of a launch and of an operation.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/number/subgroup.h"

// Threads in a thread block, in every RSA kernel.
#define RSA_THREAD_BLOCK 128

// A number is split into limbs of RSA_FP64_BITS in doubles, or of RSA_U32_BITS in u32. R
// is 2 to the number of bits of all its limbs.
#define RSA_FP64_BITS 52
#define RSA_U32_BITS 27

// A value x < R in Montgomery form is x R mod its modulus. If R is this many bits longer
// than the modulus, products of values below 4 times the modulus are below that too.
#define RSA_SPARE_BITS 6

// Bits of an exponent that one multiplication takes.
#define RSA_WINDOW_BITS 4
#define RSA_WINDOW_ENTRIES 16

// Words of shared memory for each thread, if a whole warp computes one power.
#define RSA_THREAD_PER_LIMB_WORDS 22

// The blinding factor of an operation is the key's base times one entry of each of up to
// RSA_BLIND_WINDOWS tables. Four fresh random bits choose each entry.
#define RSA_BLIND_WINDOWS 4
#define RSA_BLIND_ENTRIES 16

// A key in device memory:
//   RsaKeyHead
//   dp, dq         exponent_words each, little-endian
//   numbers        in the order below, full_limbs limbs each, little-endian
// R is the Montgomery radix of n. H is that of p and of q, which have half the limbs.
enum {
  RSA_N,
  RSA_N_R2,  // R^2 mod n
  RSA_PUBLIC_NUMBERS,
  RSA_Q_MONTGOMERY = RSA_PUBLIC_NUMBERS,  // q R mod n
  RSA_QINV,                               // R/q mod p
  RSA_P_MULTIPLE,                         // the least multiple of p that is at least q
  RSA_P,
  RSA_P_H2,  // H^2 mod p
  RSA_P_H3,  // H^3 mod p
  RSA_Q,
  RSA_Q_H2,
  RSA_Q_H3,
  // Pairs (r^e, 1/r), in Montgomery form: the base, and then the tables.
  RSA_BLIND
};

#define RSA_LEAST(a, b) ((a) < (b) ? (a) : (b))
#define RSA_MOST(a, b) ((a) > (b) ? (a) : (b))

typedef struct RsaKeyHead {
  u64 n_inverse;  // -1/n mod 2^(bits of a limb); the next two are -1/p and -1/q
  u64 p_inverse, q_inverse;
  u64 exponent;  // e
} RsaKeyHead;

// `RsaPiece` is one operation of a launch.
typedef struct RsaPiece {
  u64 key;    // offset of its key, in bytes
  u32 blind;  // random bits, RSA_WINDOW_BITS for each table
  u32 unused;
} RsaPiece;

// `RsaShape` is what all operations of a launch have in common.
typedef struct RsaShape {
  u32 count;           // operations
  u32 subgroup;        // threads of one operation, a power of two
  u32 half_limbs;      // of p and q
  u32 full_limbs;      // of n
  u32 stride_bytes;    // of one input or output, a multiple of 4; right-aligned
  u32 exponent_words;  // of dp and dq
  u32 windows;         // of dp and dq
  u32 exponent_bits;   // of the longest e
  u32 blind_windows;
  u32 unused;
} RsaShape;
