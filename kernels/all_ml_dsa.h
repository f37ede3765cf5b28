// Every kernel of ML-DSA (FIPS 204), for a target that compiles them from one source. Each kernel
// processes `count` keys or signatures, one per thread block. A target may compile one parameter
// set alone: LC_ML_DSA_ONLY names it (44, 65 or 87).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/ml_dsa/ml_dsa.h"

// ml_dsa_wipe_shared zeroes the thread block's shared memory, which holds parts of private keys.
FN void ml_dsa_wipe_shared(SHARED u32 *words, const MlDsaSet set) {
  thread_block_barrier();
  for (u32 n = thread_id(); n < ML_DSA_SHARED_WORDS(set); n += thread_block_size()) words[n] = 0;
}

#define ML_DSA_BEGIN(k, l, eta, tau, gamma1, gamma2, omega, hash)          \
  SHARED_WORDS(words);                                                     \
  const MlDsaSet set = {k, l, eta, tau, gamma1, gamma2, omega, hash};      \
  const MlDsaSharedMemory thread_block = ml_dsa_shared_memory(words, set); \
  const u32 at = thread_block_id();                                        \
  if (at >= count) return;

// Each kernel that has `verdicts` writes one word per signature or key: `launch_id` if the result
// is right, ~launch_id if a signature did not verify, and 0 if no signature was made.
#define ML_DSA_KERNELS(name, k, l, eta, tau, gamma1, gamma2, omega, hash)                          \
  KERNEL(ml_dsa_##name##_expand_all, ML_DSA_THREAD_BLOCK)                                          \
  (GLOBAL const u32 *keys, GLOBAL u32 *expanded, u32 parts, u32 count SHARED_PARAMETER) {          \
    ML_DSA_BEGIN(k, l, eta, tau, gamma1, gamma2, omega, hash)                                      \
    ml_dsa_expand_key(expanded + (u64)at * ML_DSA_KEY_POLYS(set) * ML_DSA_POLY,                    \
                      keys + (u64)at * ML_DSA_KEY_STRIDE(set) / 4, parts, thread_block, set);      \
    ml_dsa_wipe_shared(words, set);                                                                \
  }                                                                                                \
                                                                                                   \
  KERNEL(ml_dsa_##name##_draw_keys_all, ML_DSA_THREAD_BLOCK)                                       \
  (GLOBAL const u32 *seeds, GLOBAL u32 *keys, u32 count SHARED_PARAMETER) {                        \
    ML_DSA_BEGIN(k, l, eta, tau, gamma1, gamma2, omega, hash)                                      \
    ml_dsa_draw_key(keys + (u64)at * ML_DSA_KEY_STRIDE(set) / 4,                                   \
                    seeds + (u64)at * ML_DSA_SEED_BYTES / 4, thread_block, set);                   \
    ml_dsa_wipe_shared(words, set);                                                                \
  }                                                                                                \
                                                                                                   \
  KERNEL(ml_dsa_##name##_finish_keys_all, ML_DSA_THREAD_BLOCK)                                     \
  (GLOBAL u32 * keys, GLOBAL const u32 *expanded, u32 count SHARED_PARAMETER) {                    \
    ML_DSA_BEGIN(k, l, eta, tau, gamma1, gamma2, omega, hash)                                      \
    ml_dsa_finish_key(keys + (u64)at * ML_DSA_KEY_STRIDE(set) / 4,                                 \
                      expanded + (u64)at * ML_DSA_KEY_POLYS(set) * ML_DSA_POLY, thread_block,      \
                      set);                                                                        \
    ml_dsa_wipe_shared(words, set);                                                                \
  }                                                                                                \
                                                                                                   \
  KERNEL(ml_dsa_##name##_hash_keys_all, ML_DSA_THREAD_BLOCK)                                       \
  (GLOBAL u32 * keys, GLOBAL u32 * verdicts, u32 launch_id, u32 count SHARED_PARAMETER) {          \
    ML_DSA_BEGIN(k, l, eta, tau, gamma1, gamma2, omega, hash)                                      \
    ml_dsa_hash_key(keys + (u64)at * ML_DSA_KEY_STRIDE(set) / 4, thread_block, set);               \
    if (thread_id() == 0) verdicts[at] = launch_id;                                                \
  }                                                                                                \
                                                                                                   \
  KERNEL(ml_dsa_##name##_sign_all, ML_DSA_THREAD_BLOCK)                                            \
  (GLOBAL const MlDsaPiece *pieces, GLOBAL const u32 *keys, GLOBAL const u32 *expanded,            \
   GLOBAL u8 *out, GLOBAL u32 *verdicts, u32 launch_id, u32 count SHARED_PARAMETER) {              \
    ML_DSA_BEGIN(k, l, eta, tau, gamma1, gamma2, omega, hash)                                      \
    GLOBAL const MlDsaPiece *piece = pieces + at;                                                  \
    const u32 done = ml_dsa_sign(out + (u64)at * ML_DSA_SIGNATURE_STRIDE(set), piece,              \
                                 keys + (u64)piece->key * ML_DSA_KEY_STRIDE(set) / 4,              \
                                 expanded + (u64)piece->key * ML_DSA_KEY_POLYS(set) * ML_DSA_POLY, \
                                 thread_block, set);                                               \
    if (thread_id() == 0) verdicts[at] = done != 0 ? launch_id : 0;                                \
    ml_dsa_wipe_shared(words, set);                                                                \
  }                                                                                                \
                                                                                                   \
  KERNEL(ml_dsa_##name##_verify_all, ML_DSA_THREAD_BLOCK)                                          \
  (GLOBAL const MlDsaPiece *pieces, GLOBAL const u32 *expanded, GLOBAL const u8 *in,               \
   GLOBAL u32 *verdicts, u32 launch_id, u32 count SHARED_PARAMETER) {                              \
    ML_DSA_BEGIN(k, l, eta, tau, gamma1, gamma2, omega, hash)                                      \
    GLOBAL const MlDsaPiece *piece = pieces + at;                                                  \
    const u32 right = ml_dsa_verify(                                                               \
        in + (u64)at * ML_DSA_SIGNATURE_STRIDE(set), piece,                                        \
        expanded + (u64)piece->key * ML_DSA_KEY_POLYS(set) * ML_DSA_POLY, thread_block, set);      \
    if (thread_id() == 0) verdicts[at] = right != 0 ? launch_id : ~launch_id;                      \
  }

#if !defined(LC_ML_DSA_ONLY) || LC_ML_DSA_ONLY == 44
ML_DSA_SET_44(ML_DSA_KERNELS)
#endif
#if !defined(LC_ML_DSA_ONLY) || LC_ML_DSA_ONLY == 65
ML_DSA_SET_65(ML_DSA_KERNELS)
#endif
#if !defined(LC_ML_DSA_ONLY) || LC_ML_DSA_ONLY == 87
ML_DSA_SET_87(ML_DSA_KERNELS)
#endif
