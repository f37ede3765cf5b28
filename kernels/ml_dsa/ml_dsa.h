// ML-DSA (FIPS 204) by thread blocks: a thread block has one key or one signature, and its threads
// share the coefficients.
//
// Time and addresses do not depend on secrets, except for what the scheme's authors consider
// public: how often an attempt at a signature is rejected, by which check, and the challenge of a
// rejected attempt (docs/security.md).
//
// All threads of a thread block reach every barrier, whatever an attempt finds. After a check has
// rejected an attempt, they do nothing between the barriers (`is_wanted`). The OpenCL standard
// would allow leaving an attempt between two barriers, since all threads read the same result. But
// PoCL turns the code between barriers into loops over the threads, and its version 3.1 then makes
// wrong signatures. A barrier inside a condition ends a program whose kernels PoCL 6.0 compiles.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/ml_dsa/sample.h"

// `MlDsaSharedMemory` is a thread block's shared memory.
typedef struct MlDsaSharedMemory {
  SHARED u32 *first, *second;  // vectors of k polynomials
  SHARED u32 *challenge;       // a polynomial
  SHARED u32 *hashed;          // mu, and the packed w1
  SHARED u32 *drawn;           // 34 words
  SHARED u32 *seed;            // 16 words
  SHARED u32 *hash;            // 16 words
  SHARED u32 *flag;            // 0 if a check failed
} MlDsaSharedMemory;

FN MlDsaSharedMemory ml_dsa_shared_memory(SHARED u32 *words, const MlDsaSet set) {
  MlDsaSharedMemory memory;
  memory.first = words;
  memory.second = memory.first + set.k * ML_DSA_POLY;
  memory.challenge = memory.second + set.k * ML_DSA_POLY;
  memory.hashed = memory.challenge + ML_DSA_POLY;
  memory.drawn = memory.hashed + ML_DSA_HASHED_WORDS(set);
  memory.seed = memory.drawn + 40;
  memory.hash = memory.seed + 32;
  memory.flag = memory.hash + 16;
  return memory;
}

// `ml_dsa_fits` returns 1 to all threads if `is_wanted` is set and the magnitudes of all
// coefficients of `count` polynomials are below `bound`, and otherwise 0. Several threads may write
// 0 to `flag`.
FN u32 ml_dsa_fits(SHARED const u32 *polys, u32 count, u32 bound, u32 is_wanted, SHARED u32 *flag) {
  if (thread_id() == 0) *flag = is_wanted;
  thread_block_barrier();
  u32 found = 0;
  if (is_wanted)
    for (u32 n = thread_id(); n < count * ML_DSA_POLY; n += thread_block_size())
      found |= 1 ^ ((ml_dsa_magnitude(polys[n]) - bound) >> 31);
  if (found != 0) *flag = 0;
  thread_block_barrier();
  const u32 answer = *flag;
  thread_block_barrier();
  return answer;
}

// `ml_dsa_make_challenge` samples the challenge from memory.hash and applies the NTT to it.
FN void ml_dsa_make_challenge(const MlDsaSharedMemory memory, const MlDsaSet set) {
  for (u32 n = thread_id(); n < ML_DSA_POLY; n += thread_block_size()) memory.challenge[n] = 0;
  thread_block_barrier();
  if (thread_id() == 0) ml_dsa_sample_in_ball(memory.challenge, memory.hash, memory.drawn, set);
  thread_block_barrier();
  ml_dsa_ntt(memory.challenge, 1);
}

// `ml_dsa_commit` sets memory.hash to H(mu || w1Encode(w1)) with the w1 of `vector` (FIPS 204,
// Algorithm 28, w1Encode). mu is in memory.hashed.
FN void ml_dsa_commit(const MlDsaSharedMemory memory, SHARED const u32 *vector, u32 how,
                      const MlDsaSet set) {
  const u32 bits = ML_DSA_W1_BITS(set);
  for (u32 n = thread_id(); n < set.k * 8 * bits; n += thread_block_size())
    memory.hashed[16 + n] = ml_dsa_packed_word(vector + n / (8 * bits) * ML_DSA_POLY,
                                               n % (8 * bits), bits, how, 0, set);
  thread_block_barrier();
  if (thread_id() == 0)
    ml_dsa_hash(memory.hash, set.hash_bytes / 4, memory.hashed, ML_DSA_HASHED_WORDS(set));
  thread_block_barrier();
}

// `ml_dsa_times_challenge` sets to[i] to the challenge times polys[i], after the inverse NTT.
FN void ml_dsa_times_challenge(SHARED u32 *to, const MlDsaSharedMemory memory,
                               GLOBAL const u32 *polys, u32 count, u32 is_wanted) {
  if (is_wanted)
    for (u32 n = thread_id(); n < count * ML_DSA_POLY; n += thread_block_size())
      to[n] = ml_dsa_multiply(memory.challenge[n % ML_DSA_POLY], polys[n]);
  thread_block_barrier();
  ml_dsa_inverse_ntt(to, count, is_wanted);
}

// ---- Keys ----

// `ml_dsa_expand_part` unpacks `count` polynomials of a key and applies the NTT to them.
FN void ml_dsa_expand_part(GLOBAL u32 *to, GLOBAL const u32 *packed, u32 count, u32 bits, u32 how,
                           u32 top, u32 shift, SHARED u32 *scratch) {
  ml_dsa_unpack(scratch, packed, count, bits, how, top, shift);
  thread_block_barrier();
  ml_dsa_ntt(scratch, count);
  for (u32 n = thread_id(); n < count * ML_DSA_POLY; n += thread_block_size()) to[n] = scratch[n];
  thread_block_barrier();
}

// `ml_dsa_expand_key` expands the parts `parts` of a key (ML_DSA_EXPAND_...): A (FIPS 204,
// Algorithm 32, ExpandA), t1 (Algorithm 23, pkDecode), and s1, s2 and t0 (Algorithm 25, skDecode),
// all in NTT form.
FN void ml_dsa_expand_key(GLOBAL u32 *to, GLOBAL const u32 *key, u32 parts,
                          const MlDsaSharedMemory memory, const MlDsaSet set) {
  GLOBAL const u32 *private_key = key + ML_DSA_PUBLIC_BYTES(set) / 4;
  if (parts & ML_DSA_EXPAND_A) {
    for (u32 n = thread_id(); n < set.k * set.l; n += thread_block_size())
      ml_dsa_expand_a(to + n * ML_DSA_POLY, key, n % set.l, n / set.l);
  }
  // A part that is not wanted has a count of 0, so that all threads still reach every barrier.
  const u32 t1 = (parts & ML_DSA_EXPAND_T1) ? set.k : 0,
            t0 = (parts & ML_DSA_EXPAND_T0) ? set.k : 0;
  const u32 s1 = (parts & ML_DSA_EXPAND_S) ? set.l : 0, s2 = (parts & ML_DSA_EXPAND_S) ? set.k : 0;
  ml_dsa_expand_part(to + ML_DSA_T1_IN_KEY(set) * ML_DSA_POLY, key + 8, t1, ML_DSA_T1_BITS,
                     ML_DSA_PLAIN, 0, ML_DSA_DROPPED_BITS, memory.first);
  ml_dsa_expand_part(to + ML_DSA_S1_IN_KEY(set) * ML_DSA_POLY, private_key + ML_DSA_S1_AT / 4, s1,
                     ML_DSA_S_BITS(set), ML_DSA_FROM_TOP, set.eta, 0, memory.first);
  ml_dsa_expand_part(to + ML_DSA_S2_IN_KEY(set) * ML_DSA_POLY, private_key + ML_DSA_S2_AT(set) / 4,
                     s2, ML_DSA_S_BITS(set), ML_DSA_FROM_TOP, set.eta, 0, memory.first);
  ml_dsa_expand_part(to + ML_DSA_T0_IN_KEY(set) * ML_DSA_POLY, private_key + ML_DSA_T0_AT(set) / 4,
                     t0, ML_DSA_T0_BITS, ML_DSA_FROM_TOP, 1u << (ML_DSA_DROPPED_BITS - 1), 0,
                     memory.first);
}

// `ml_dsa_draw_key` is the first half of FIPS 204, Algorithm 6, ML-DSA.KeyGen_internal: all of the
// key except t0, t1 and tr, from the seed `xi`.
FN void ml_dsa_draw_key(GLOBAL u32 *key, GLOBAL const u32 *xi, const MlDsaSharedMemory memory,
                        const MlDsaSet set) {
  GLOBAL u32 *private_key = key + ML_DSA_PUBLIC_BYTES(set) / 4;
  SHARED u32 *made = memory.hashed;  // rho, rho', K
  if (thread_id() == 0) {
    u64 state[25];
    ml_dsa_clear(state);
    UNROLL for (u32 i = 0; i < 4; ++i) state[i] = ml_dsa_join(xi[2 * i], xi[2 * i + 1]);
    state[4] = set.k | set.l << 8 | ML_DSA_SHAKE_END << 16;
    state[ML_DSA_SHAKE256_WORDS - 1] = ML_DSA_LAST_BIT;
    keccak_f1600(state);
    UNROLL for (u32 i = 0; i < 16; ++i) {
      made[2 * i] = (u32)state[i];
      made[2 * i + 1] = (u32)(state[i] >> 32);
    }
  }
  thread_block_barrier();
  for (u32 n = thread_id(); n < 8; n += thread_block_size()) {
    key[n] = made[n];
    private_key[n] = made[n];
    private_key[ML_DSA_K_AT / 4 + n] = made[24 + n];
  }
  for (u32 n = thread_id(); n < set.k + set.l; n += thread_block_size())
    ml_dsa_expand_s(
        (n < set.l ? memory.first : memory.second - set.l * ML_DSA_POLY) + n * ML_DSA_POLY,
        made + 8, n, set);
  thread_block_barrier();
  ml_dsa_pack(private_key + ML_DSA_S1_AT / 4, memory.first, set.l, ML_DSA_S_BITS(set),
              ML_DSA_FROM_TOP, set.eta, set);
  ml_dsa_pack(private_key + ML_DSA_S2_AT(set) / 4, memory.second, set.k, ML_DSA_S_BITS(set),
              ML_DSA_FROM_TOP, set.eta, set);
}

// `ml_dsa_finish_key` is the second half of Algorithm 6, after A and s1 are expanded: t0 and t1
// (Algorithm 35, Power2Round).
FN void ml_dsa_finish_key(GLOBAL u32 *key, GLOBAL const u32 *expanded,
                          const MlDsaSharedMemory memory, const MlDsaSet set) {
  GLOBAL u32 *private_key = key + ML_DSA_PUBLIC_BYTES(set) / 4;
  for (u32 n = thread_id(); n < set.l * ML_DSA_POLY; n += thread_block_size())
    memory.first[n] = expanded[ML_DSA_S1_IN_KEY(set) * ML_DSA_POLY + n];
  thread_block_barrier();
  for (u32 i = 0; i < set.k; ++i)
    ml_dsa_product(memory.second + i * ML_DSA_POLY, expanded + i * set.l * ML_DSA_POLY,
                   memory.first, set.l);
  thread_block_barrier();
  ml_dsa_inverse_ntt(memory.second, set.k, 1);
  ml_dsa_unpack(memory.first, private_key + ML_DSA_S2_AT(set) / 4, set.k, ML_DSA_S_BITS(set),
                ML_DSA_FROM_TOP, set.eta, 0);
  thread_block_barrier();
  for (u32 n = thread_id(); n < set.k * ML_DSA_POLY; n += thread_block_size()) {
    const u32 t = ml_dsa_add(memory.second[n], memory.first[n]);
    const u32 part = 1u << (ML_DSA_DROPPED_BITS - 1);
    const u32 high = (t + part - 1) >> ML_DSA_DROPPED_BITS;
    memory.first[n] = high;
    memory.second[n] = ml_dsa_subtract(t, high << ML_DSA_DROPPED_BITS);
  }
  thread_block_barrier();
  ml_dsa_pack(key + 8, memory.first, set.k, ML_DSA_T1_BITS, ML_DSA_PLAIN, 0, set);
  ml_dsa_pack(private_key + ML_DSA_T0_AT(set) / 4, memory.second, set.k, ML_DSA_T0_BITS,
              ML_DSA_FROM_TOP, 1u << (ML_DSA_DROPPED_BITS - 1), set);
}

// `ml_dsa_hash_key` writes tr, the hash of the public key (FIPS 204, Algorithm 6).
FN void ml_dsa_hash_key(GLOBAL u32 *key, const MlDsaSharedMemory memory, const MlDsaSet set) {
  GLOBAL u32 *private_key = key + ML_DSA_PUBLIC_BYTES(set) / 4;
  if (thread_id() == 0) {
    ml_dsa_hash_global(memory.hash, 16, key, ML_DSA_PUBLIC_BYTES(set) / 4);
    for (u32 n = 0; n < 16; ++n) private_key[ML_DSA_TR_AT / 4 + n] = memory.hash[n];
  }
}

// ---- Signatures ----

// `ml_dsa_make_z` writes z and returns 1, or returns 0 if the attempt is rejected (FIPS 204,
// Algorithm 7, ML-DSA.Sign_internal, the check of z). memory.first is y in NTT form.
FN u32 ml_dsa_make_z(GLOBAL u32 *out, GLOBAL const u32 *key, const MlDsaSharedMemory memory,
                     const MlDsaSet set) {
  GLOBAL const u32 *s1 = key + ML_DSA_S1_IN_KEY(set) * ML_DSA_POLY;
  for (u32 n = thread_id(); n < set.l * ML_DSA_POLY; n += thread_block_size())
    memory.first[n] = ml_dsa_add(ml_dsa_multiply(memory.first[n], 1),
                                 ml_dsa_multiply(memory.challenge[n % ML_DSA_POLY], s1[n]));
  thread_block_barrier();
  ml_dsa_inverse_ntt(memory.first, set.l, 1);
  const u32 gamma1 = 1u << set.gamma1_bits;
  const u32 fits = ml_dsa_fits(memory.first, set.l, gamma1 - set.tau * set.eta, 1, memory.flag);
  if (fits)
    ml_dsa_pack(out + set.hash_bytes / 4, memory.first, set.l, ML_DSA_Z_BITS(set), ML_DSA_FROM_TOP,
                gamma1, set);
  thread_block_barrier();
  return fits;
}

// `ml_dsa_pack_hints` writes the hints, which `words` holds as 32 bits a word (FIPS 204, Algorithm
// 20, HintBitPack). One thread calls it. Returns 0 if there are too many.
FN u32 ml_dsa_pack_hints(GLOBAL u8 *out, SHARED const u32 *words, const MlDsaSet set) {
  u32 count = 0;
  for (u32 n = 0; n < set.omega + set.k; ++n) out[n] = 0;
  for (u32 n = 0; n < 8 * set.k; ++n) {
    for (u32 word = words[n], bit = 0; word != 0; word >>= 1, ++bit) {
      if (!(word & 1)) continue;
      if (count == set.omega) return 0;
      out[count++] = (u8)(n % 8 * 32 + bit);
    }
    if (n % 8 == 7) out[set.omega + n / 8] = (u8)count;
  }
  return 1;
}

// `ml_dsa_make_hints` checks r0 and ct0 and writes the hints, if `is_wanted` is set (FIPS 204,
// Algorithm 7, ML-DSA.Sign_internal, and Algorithm 39, MakeHint). Returns 1 if it wrote them, and 0
// if the attempt is rejected. memory.second is w.
FN u32 ml_dsa_make_hints(GLOBAL u8 *out, GLOBAL const u32 *key, u32 is_wanted,
                         const MlDsaSharedMemory memory, const MlDsaSet set) {
  ml_dsa_times_challenge(memory.first, memory, key + ML_DSA_S2_IN_KEY(set) * ML_DSA_POLY, set.k,
                         is_wanted);
  if (is_wanted)
    for (u32 n = thread_id(); n < set.k * ML_DSA_POLY; n += thread_block_size()) {
      const u32 rest = ml_dsa_subtract(memory.second[n], memory.first[n]);
      memory.second[n] = rest;
      memory.first[n] = ml_dsa_decompose(rest, set).low;
    }
  thread_block_barrier();
  is_wanted =
      ml_dsa_fits(memory.first, set.k, set.gamma2 - set.tau * set.eta, is_wanted, memory.flag);
  ml_dsa_times_challenge(memory.first, memory, key + ML_DSA_T0_IN_KEY(set) * ML_DSA_POLY, set.k,
                         is_wanted);
  is_wanted = ml_dsa_fits(memory.first, set.k, set.gamma2, is_wanted, memory.flag);
  if (is_wanted)
    for (u32 n = thread_id(); n < 8 * set.k; n += thread_block_size()) {
      u32 word = 0;
      for (u32 bit = 0; bit < 32; ++bit) {
        // Each thread begins at another coefficient, to avoid bank conflicts in shared memory.
        const u32 at = 32 * n + (bit + thread_id()) % 32;
        const u32 rest = memory.second[at];
        const u32 moved = ml_dsa_add(rest, memory.first[at]);
        const u32 differs = ml_dsa_decompose(rest, set).high ^ ml_dsa_decompose(moved, set).high;
        word |= ((differs | (0u - differs)) >> 31) << at % 32;
      }
      memory.challenge[n] = word;
    }
  thread_block_barrier();
  if (thread_id() == 0)
    *memory.flag = is_wanted ? ml_dsa_pack_hints(out, memory.challenge, set) : 0;
  thread_block_barrier();
  const u32 fits = *memory.flag;
  thread_block_barrier();
  return fits;
}

// `ml_dsa_attempt` is one iteration of the rejection loop of FIPS 204, Algorithm 7,
// ML-DSA.Sign_internal. Returns 1 if it made a signature.
FN u32 ml_dsa_attempt(GLOBAL u8 *out, GLOBAL const u32 *key, u32 attempt,
                      const MlDsaSharedMemory memory, const MlDsaSet set) {
  const u32 bits = ML_DSA_Z_BITS(set);
  for (u32 j = thread_id(); j < set.l; j += thread_block_size())
    ml_dsa_draw_mask(memory.second + j * ML_DSA_POLY, memory.seed, attempt * set.l + j, set);
  thread_block_barrier();
  for (u32 n = thread_id(); n < set.l * ML_DSA_POLY; n += thread_block_size()) {
    SHARED const u32 *words = memory.second + n / ML_DSA_POLY * ML_DSA_POLY;
    memory.first[n] =
        ml_dsa_subtract(1u << set.gamma1_bits, ML_DSA_UNPACKED(words, n % ML_DSA_POLY, bits));
  }
  thread_block_barrier();
  ml_dsa_ntt(memory.first, set.l);
  for (u32 i = 0; i < set.k; ++i)
    ml_dsa_product(memory.second + i * ML_DSA_POLY, key + i * set.l * ML_DSA_POLY, memory.first,
                   set.l);
  thread_block_barrier();
  ml_dsa_inverse_ntt(memory.second, set.k, 1);
  ml_dsa_commit(memory, memory.second, ML_DSA_HIGH, set);
  ml_dsa_make_challenge(memory, set);
  const u32 has_z = ml_dsa_make_z((GLOBAL u32 *)out, key, memory, set);
  const u32 done = ml_dsa_make_hints(out + ML_DSA_HINTS_AT(set), key, has_z, memory, set);
  if (done)
    for (u32 n = thread_id(); n < set.hash_bytes / 4; n += thread_block_size())
      ((GLOBAL u32 *)out)[n] = memory.hash[n];
  return done;
}

// `ml_dsa_sign` signs (FIPS 204, Algorithm 7, ML-DSA.Sign_internal, section 6.2, after the
// computation of mu). Returns 1 if it made a signature.
FN u32 ml_dsa_sign(GLOBAL u8 *out, GLOBAL const MlDsaPiece *piece, GLOBAL const u32 *key,
                   GLOBAL const u32 *expanded, const MlDsaSharedMemory memory, const MlDsaSet set) {
  GLOBAL const u32 *secret = key + (ML_DSA_PUBLIC_BYTES(set) + ML_DSA_K_AT) / 4;
  for (u32 n = thread_id(); n < 8; n += thread_block_size()) {
    memory.hashed[n] = secret[n];
    memory.hashed[8 + n] = piece->random[n];
  }
  for (u32 n = thread_id(); n < 16; n += thread_block_size()) memory.hashed[16 + n] = piece->mu[n];
  thread_block_barrier();
  if (thread_id() == 0) ml_dsa_hash(memory.seed, 16, memory.hashed, 32);
  thread_block_barrier();
  for (u32 n = thread_id(); n < 16; n += thread_block_size()) memory.hashed[n] = piece->mu[n];
  thread_block_barrier();
  u32 done = 0;
  ROLLED for (u32 attempt = 0; attempt < ML_DSA_MOST_ATTEMPTS && done == 0; ++attempt) done =
      ml_dsa_attempt(out, expanded, attempt, memory, set);
  return done;
}

// `ml_dsa_unpack_hints` unpacks the hints to 32 bits a word (FIPS 204, Algorithm 21,
// HintBitUnpack). One thread calls it. Returns 0 if they are malformed.
FN u32 ml_dsa_unpack_hints(SHARED u32 *words, GLOBAL const u8 *from, const MlDsaSet set) {
  for (u32 n = 0; n < 8 * set.k; ++n) words[n] = 0;
  u32 at = 0;
  for (u32 i = 0; i < set.k; ++i) {
    const u32 end = from[set.omega + i], first = at;
    if (end < at || end > set.omega) return 0;
    for (; at < end; ++at) {
      if (at > first && from[at - 1] >= from[at]) return 0;
      words[8 * i + from[at] / 32] |= 1u << from[at] % 32;
    }
  }
  for (; at < set.omega; ++at)
    if (from[at] != 0) return 0;
  return 1;
}

// `ml_dsa_verify` verifies a signature (FIPS 204, Algorithm 8, ML-DSA.Verify_internal, section 6.3,
// after the computation of mu). Returns 1 to all threads if the signature is right.
FN u32 ml_dsa_verify(GLOBAL const u8 *signature, GLOBAL const MlDsaPiece *piece,
                     GLOBAL const u32 *expanded, const MlDsaSharedMemory memory,
                     const MlDsaSet set) {
  GLOBAL const u32 *words = (GLOBAL const u32 *)signature;
  SHARED u32 *hints = memory.challenge;
  for (u32 n = thread_id(); n < 16; n += thread_block_size()) memory.hashed[n] = piece->mu[n];
  for (u32 n = thread_id(); n < set.hash_bytes / 4; n += thread_block_size())
    memory.hash[n] = words[n];
  ml_dsa_unpack(memory.first, words + set.hash_bytes / 4, set.l, ML_DSA_Z_BITS(set),
                ML_DSA_FROM_TOP, 1u << set.gamma1_bits, 0);
  thread_block_barrier();
  const u32 bound = (1u << set.gamma1_bits) - set.tau * set.eta;
  const u32 fits = ml_dsa_fits(memory.first, set.l, bound, 1, memory.flag);
  ml_dsa_ntt(memory.first, set.l);
  ml_dsa_make_challenge(memory, set);
  GLOBAL const u32 *t1 = expanded + ML_DSA_T1_IN_KEY(set) * ML_DSA_POLY;
  for (u32 i = 0; i < set.k; ++i) {
    SHARED u32 *to = memory.second + i * ML_DSA_POLY;
    ml_dsa_product(to, expanded + i * set.l * ML_DSA_POLY, memory.first, set.l);
    for (u32 n = thread_id(); n < ML_DSA_POLY; n += thread_block_size())
      to[n] = ml_dsa_subtract(to[n], ml_dsa_multiply(memory.challenge[n], t1[i * ML_DSA_POLY + n]));
  }
  thread_block_barrier();
  ml_dsa_inverse_ntt(memory.second, set.k, 1);
  if (thread_id() == 0)
    *memory.flag = ml_dsa_unpack_hints(hints, signature + ML_DSA_HINTS_AT(set), set);
  thread_block_barrier();
  const u32 has_hints = *memory.flag;
  for (u32 n = thread_id(); n < set.k * ML_DSA_POLY; n += thread_block_size())
    memory.second[n] = ml_dsa_use_hint(hints[n / 32] >> n % 32 & 1, memory.second[n], set);
  thread_block_barrier();
  ml_dsa_commit(memory, memory.second, ML_DSA_PLAIN, set);
  u32 differs = 0;
  for (u32 n = 0; n < set.hash_bytes / 4; ++n) differs |= memory.hash[n] ^ words[n];
  return fits && has_hints && differs == 0 ? 1 : 0;
}
