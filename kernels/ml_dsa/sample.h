// Pseudorandom sampling of ML-DSA from SHAKE (FIPS 204, section 7.3). A thread that samples a
// polynomial has its own Keccak state.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/keccak.h"
#include "kernels/ml_dsa/rounding.h"

#define ML_DSA_SHAKE128_WORDS 21  // u64 of a block
#define ML_DSA_SHAKE256_WORDS 17
#define ML_DSA_SHAKE_END 0x1fu
#define ML_DSA_LAST_BIT 0x8000000000000000ull

FN u64 ml_dsa_join(u32 low, u32 high) { return (u64)high << 32 | low; }

FN void ml_dsa_clear(u64 *state) { UNROLL for (u32 i = 0; i < 25; ++i) state[i] = 0; }

// `ml_dsa_expand_a` samples one polynomial of A (FIPS 204, Algorithm 30, RejNTTPoly) with SHAKE128
// of rho, column and row (Algorithm 32, ExpandA).
FN void ml_dsa_expand_a(GLOBAL u32 *poly, GLOBAL const u32 *rho, u32 column, u32 row) {
  u64 state[25];
  ml_dsa_clear(state);
  UNROLL for (u32 i = 0; i < 4; ++i) state[i] = ml_dsa_join(rho[2 * i], rho[2 * i + 1]);
  state[4] = column | row << 8 | ML_DSA_SHAKE_END << 16;
  state[ML_DSA_SHAKE128_WORDS - 1] = ML_DSA_LAST_BIT;
  u32 count = 0;
  ROLLED while (count < ML_DSA_POLY) {
    keccak_f1600(state);
    UNROLL for (u32 i = 0; i < ML_DSA_SHAKE128_WORDS; i += 3) {
      const u64 a = state[i], b = state[i + 1], c = state[i + 2];
      const u32 drawn[8] = {(u32)a,         (u32)(a >> 24), (u32)(a >> 48) | (u32)b << 16,
                            (u32)(b >> 8),  (u32)(b >> 32), (u32)(b >> 56) | (u32)c << 8,
                            (u32)(c >> 16), (u32)(c >> 40)};
      UNROLL for (u32 n = 0; n < 8; ++n) {
        const u32 x = drawn[n] & 0x7fffff;
        if (x < ML_DSA_Q && count < ML_DSA_POLY) poly[count++] = x;
      }
    }
  }
}

// `ml_dsa_begin_drawing` absorbs a seed of 64 bytes and a number of two bytes into a state of
// SHAKE256, and does not permute it yet.
FN void ml_dsa_begin_drawing(u64 *state, SHARED const u32 *seed, u32 number) {
  ml_dsa_clear(state);
  UNROLL for (u32 i = 0; i < 8; ++i) state[i] = ml_dsa_join(seed[2 * i], seed[2 * i + 1]);
  state[8] = number | ML_DSA_SHAKE_END << 16;
  state[ML_DSA_SHAKE256_WORDS - 1] = ML_DSA_LAST_BIT;
}

// `ml_dsa_expand_s` samples a polynomial with small coefficients (FIPS 204, Algorithm 31,
// RejBoundedPoly). The number of rejected nibbles reveals nothing about the accepted ones.
FN void ml_dsa_expand_s(SHARED u32 *poly, SHARED const u32 *seed, u32 number, const MlDsaSet set) {
  u64 state[25];
  ml_dsa_begin_drawing(state, seed, number);
  u32 count = 0;
  ROLLED while (count < ML_DSA_POLY) {
    keccak_f1600(state);
    UNROLL for (u32 i = 0; i < ML_DSA_SHAKE256_WORDS; ++i) {
      ROLLED for (u32 n = 0; n < 64; n += 4) {
        const u32 x = (u32)(state[i] >> n) & 15;
        const u32 is_in = set.eta == 2 ? x < 15 : x < 9;
        const u32 small = set.eta == 2 ? x - (x * 205 >> 10) * 5 : x;
        if (is_in && count < ML_DSA_POLY) poly[count++] = ml_dsa_subtract(set.eta, small);
      }
    }
  }
}

// `ml_dsa_draw_mask` writes the packed bits of one polynomial of y (FIPS 204, Algorithm 34,
// ExpandMask).
FN void ml_dsa_draw_mask(SHARED u32 *words, SHARED const u32 *seed, u32 number,
                         const MlDsaSet set) {
  const u32 count = 8 * ML_DSA_Z_BITS(set);
  u64 state[25];
  ml_dsa_begin_drawing(state, seed, number);
  ROLLED for (u32 block = 0; block < count; block += 2 * ML_DSA_SHAKE256_WORDS) {
    keccak_f1600(state);
    UNROLL for (u32 i = 0; i < ML_DSA_SHAKE256_WORDS; ++i) {
      if (block + 2 * i < count) {
        words[block + 2 * i] = (u32)state[i];
        words[block + 2 * i + 1] = (u32)(state[i] >> 32);
      }
    }
  }
}

// SHAKE256 of `in_words` words into `out_words`, both even, by the calling thread.
#define ML_DSA_SHAKE256(name, SPACE)                                                \
  FN void name(SHARED u32 *out, u32 out_words, SPACE const u32 *in, u32 in_words) { \
    u64 state[25];                                                                  \
    ml_dsa_clear(state);                                                            \
    const u32 blocks = in_words / (2 * ML_DSA_SHAKE256_WORDS) + 1;                  \
    ROLLED for (u32 block = 0; block < blocks; ++block) {                           \
      UNROLL for (u32 i = 0; i < ML_DSA_SHAKE256_WORDS; ++i) {                      \
        const u32 at = 2 * (block * ML_DSA_SHAKE256_WORDS + i);                     \
        if (at < in_words) state[i] ^= ml_dsa_join(in[at], in[at + 1]);             \
        if (at == in_words) state[i] ^= ML_DSA_SHAKE_END;                           \
      }                                                                             \
      if (block + 1 == blocks) state[ML_DSA_SHAKE256_WORDS - 1] ^= ML_DSA_LAST_BIT; \
      keccak_f1600(state);                                                          \
    }                                                                               \
    UNROLL for (u32 i = 0; i < ML_DSA_SHAKE256_WORDS; ++i) {                        \
      if (2 * i < out_words) {                                                      \
        out[2 * i] = (u32)state[i];                                                 \
        out[2 * i + 1] = (u32)(state[i] >> 32);                                     \
      }                                                                             \
    }                                                                               \
  }
ML_DSA_SHAKE256(ml_dsa_hash, SHARED)
ML_DSA_SHAKE256(ml_dsa_hash_global, GLOBAL)

// `ml_dsa_sample_in_ball` samples the challenge into a polynomial of zeros (FIPS 204, Algorithm 29,
// SampleInBall). One thread calls it. The challenge is public in a signature, and that of a
// rejected attempt may be known.
FN void ml_dsa_sample_in_ball(SHARED u32 *poly, SHARED const u32 *seed, SHARED u32 *drawn,
                              const MlDsaSet set) {
  u64 state[25];
  ml_dsa_clear(state);
  UNROLL for (u32 i = 0; i < 8; ++i) if (8 * i < set.hash_bytes) state[i] =
      ml_dsa_join(seed[2 * i], seed[2 * i + 1]);
  state[set.hash_bytes / 8] = ML_DSA_SHAKE_END;
  state[ML_DSA_SHAKE256_WORDS - 1] = ML_DSA_LAST_BIT;
  u32 i = ML_DSA_POLY - set.tau, at = 8;
  u64 signs = 0;
  u32 is_first = 1;
  ROLLED while (i < ML_DSA_POLY) {
    keccak_f1600(state);
    UNROLL for (u32 n = 0; n < ML_DSA_SHAKE256_WORDS; ++n) {
      drawn[2 * n] = (u32)state[n];
      drawn[2 * n + 1] = (u32)(state[n] >> 32);
    }
    if (is_first) signs = state[0];
    ROLLED for (; at < 8 * ML_DSA_SHAKE256_WORDS && i < ML_DSA_POLY; ++at) {
      const u32 j = drawn[at / 4] >> (8 * (at % 4)) & 255;
      if (j > i) continue;
      poly[i] = poly[j];
      poly[j] = (signs & 1) ? ML_DSA_Q - 1 : 1;
      signs >>= 1;
      ++i;
    }
    is_first = 0;
    at = 0;
  }
}
