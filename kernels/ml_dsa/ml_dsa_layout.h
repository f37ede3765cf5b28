// Constants and structures that the host and the kernels share for ML-DSA (FIPS 204): the parameter
// sets, the lengths of keys and signatures, and the layout of operations and expanded keys in
// device memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// Threads in a thread block, in every kernel. A thread block has one signature.
#define ML_DSA_THREAD_BLOCK 32

#define ML_DSA_Q 8380417u
#define ML_DSA_POLY 256u  // coefficients, and words of memory
#define ML_DSA_DROPPED_BITS 13u

#define ML_DSA_SEED_BYTES 32u
#define ML_DSA_MU_BYTES 64u

// The parameters of a set (FIPS 204, Table 1).
typedef struct MlDsaSet {
  u32 k, l, eta, tau, gamma1_bits, gamma2, omega;
  u32 hash_bytes;  // of the commitment hash
} MlDsaSet;

// SET(name, k, l, eta, tau, gamma1_bits, gamma2, omega, hash_bytes)
#define ML_DSA_SET_44(SET) SET(44, 4, 4, 2, 39, 17, 95232, 80, 32)
#define ML_DSA_SET_65(SET) SET(65, 6, 5, 4, 49, 19, 261888, 55, 48)
#define ML_DSA_SET_87(SET) SET(87, 8, 7, 2, 60, 19, 261888, 75, 64)

// Bits of a coefficient as it is packed.
#define ML_DSA_T1_BITS 10u
#define ML_DSA_T0_BITS 13u
#define ML_DSA_S_BITS(set) ((set).eta == 2 ? 3u : 4u)
#define ML_DSA_Z_BITS(set) ((set).gamma1_bits + 1)
#define ML_DSA_W1_BITS(set) ((set).gamma2 == 95232 ? 6u : 4u)

// Bytes of a polynomial whose coefficients have `bits` bits.
#define ML_DSA_PACKED(bits) (32u * (bits))

// A public key: rho, t1. A private key: rho, K, tr, s1, s2, t0. A signature: the hash, z, the
// hints.
#define ML_DSA_PUBLIC_BYTES(set) (32u + (set).k * ML_DSA_PACKED(ML_DSA_T1_BITS))
#define ML_DSA_K_AT 32u
#define ML_DSA_TR_AT 64u
#define ML_DSA_S1_AT 128u
#define ML_DSA_S2_AT(set) (ML_DSA_S1_AT + (set).l * ML_DSA_PACKED(ML_DSA_S_BITS(set)))
#define ML_DSA_T0_AT(set) (ML_DSA_S2_AT(set) + (set).k * ML_DSA_PACKED(ML_DSA_S_BITS(set)))
#define ML_DSA_PRIVATE_BYTES(set) (ML_DSA_T0_AT(set) + (set).k * ML_DSA_PACKED(ML_DSA_T0_BITS))
#define ML_DSA_HINTS_AT(set) ((set).hash_bytes + (set).l * ML_DSA_PACKED(ML_DSA_Z_BITS(set)))
#define ML_DSA_SIGNATURE_BYTES(set) (ML_DSA_HINTS_AT(set) + (set).omega + (set).k)

// A key in device memory is its public key, followed by its private key if it has one. Keys and
// signatures begin at multiples of 16 bytes.
#define ML_DSA_STRIDE(bytes) (((bytes) + 15u) / 16u * 16u)
#define ML_DSA_KEY_STRIDE(set) ML_DSA_STRIDE(ML_DSA_PUBLIC_BYTES(set) + ML_DSA_PRIVATE_BYTES(set))
#define ML_DSA_SIGNATURE_STRIDE(set) ML_DSA_STRIDE(ML_DSA_SIGNATURE_BYTES(set))

// An expanded key, in polynomials: A, t1 times 2^13, s1, s2, t0, all in NTT form.
#define ML_DSA_A_IN_KEY(set) 0u
#define ML_DSA_T1_IN_KEY(set) ((set).k * (set).l)
#define ML_DSA_S1_IN_KEY(set) (ML_DSA_T1_IN_KEY(set) + (set).k)
#define ML_DSA_S2_IN_KEY(set) (ML_DSA_S1_IN_KEY(set) + (set).l)
#define ML_DSA_T0_IN_KEY(set) (ML_DSA_S2_IN_KEY(set) + (set).k)
#define ML_DSA_KEY_POLYS(set) (ML_DSA_T0_IN_KEY(set) + (set).k)

// The parts of a key that ml_dsa_expand_key() makes.
#define ML_DSA_EXPAND_A 1u
#define ML_DSA_EXPAND_T1 2u
#define ML_DSA_EXPAND_S 4u
#define ML_DSA_EXPAND_T0 8u

// `MlDsaPiece` is one signature to make or to verify.
typedef struct MlDsaPiece {
  u32 mu[16];
  u32 random[8];  // rnd of FIPS 204; zeros for a deterministic signature
  u32 key;        // the key's index
  u32 unused[7];
} MlDsaPiece;

// Shared memory, in words: two vectors of polynomials, the challenge, and what is hashed.
#define ML_DSA_HASHED_WORDS(set) (16u + (set).k * 8u * ML_DSA_W1_BITS(set))
#define ML_DSA_SMALL_WORDS 128u
#define ML_DSA_SHARED_WORDS(set) \
  ((2u * (set).k + 1u) * ML_DSA_POLY + ML_DSA_HASHED_WORDS(set) + ML_DSA_SMALL_WORDS)

// The limit of the rejection loop (FIPS 204, Appendix C): no implementation may give up sooner. The
// probability of more attempts is below 2^-256.
#define ML_DSA_MOST_ATTEMPTS 814u
