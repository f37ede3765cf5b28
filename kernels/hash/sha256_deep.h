// SHA-256 (FIPS 180-4, section 6.2) for batches with too few messages to fill a device. A thread
// block takes as many messages as it has threads in one quarter. One quarter computes the rounds
// only. The other three load the messages and compute their schedules, each for every third block,
// and leave them in shared memory. The rounds of a message, each of which waits for the one before,
// thus have a warp scheduler to themselves.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/sha2_messages.h"

TABLE u32 kSha256Round[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u};

// `sha256_deep_make` writes the 64 schedule words of block `w`, each plus its round constant, to
// shared memory, interleaved in groups of four words for each thread.
FN void sha256_deep_make(u32 *w, SHARED u32 *to) {
  UNROLL for (int sixteen = 0; sixteen < 4; ++sixteen) {
    if (sixteen != 0) sha256_schedule(w);
    UNROLL for (int i = 0; i < 16; i += 4) {
      UNROLL for (int k = 0; k < 4; ++k) to[(16 * sixteen + i) * SHA256_DEEP_MESSAGES + k] =
          w[i + k] + kSha256Round[16 * sixteen + i + k];
    }
  }
}

// One round, as SHA256_ROUND(), in an order that leaves little to do once the variables of the
// round before are known. Sums for which the next round waits are left to the compiler. The new a
// is the new e minus the old d plus the terms that only a is given.
#define SHA256_DEEP_ROUND(i, word)                                                            \
  {                                                                                           \
    const u32 was = SHA256_AT(3, i);                                                          \
    const u32 both = PRODUCT_SUM(PRODUCT_SUM(SHA256_AT(7, i), (word)), was);                  \
    const u32 less =                                                                          \
        PRODUCT_SUM(LUT3(SHA256_AT(0, i), SHA256_AT(1, i), SHA256_AT(2, i), 0xe8), 0u - was); \
    SHA256_AT(3, i) =                                                                         \
        PRODUCT_SUM(both, LUT3(SHA256_AT(4, i), SHA256_AT(5, i), SHA256_AT(6, i), 0xca)) +    \
        SHA256_SIGMA(SHA256_AT(4, i), 6, 11, 25);                                             \
    SHA256_AT(7, i) = less + SHA256_SIGMA(SHA256_AT(0, i), 2, 13, 22) + SHA256_AT(3, i);      \
  }

// `sha256_deep_rounds` hashes one block whose schedule is in shared memory into the state.
FN void sha256_deep_rounds(u32 *state, SHARED const u32 *words) {
  u32 s[8];
  UNROLL for (int i = 0; i < 8; ++i) s[i] = state[i];
  UNROLL for (u32 round = 0; round < 64; round += 16) {
    UNROLL for (u32 i = 0; i < 16; i += 4) {
      const Block four = load_shared_block(words + (round + i) * SHA256_DEEP_MESSAGES);
      SHA256_DEEP_ROUND(i, four.w[0])
      SHA256_DEEP_ROUND(i + 1, four.w[1])
      SHA256_DEEP_ROUND(i + 2, four.w[2])
      SHA256_DEEP_ROUND(i + 3, four.w[3])
    }
  }
  UNROLL for (int i = 0; i < 8; ++i) state[i] += s[i];
}

// `hash_sha256_deep` hashes bytes `from` to `to` of each piece. `turn` consecutive thread blocks
// use the same quarter for the rounds; the next ones use another. Thread blocks that share a
// multiprocessor then keep all of its schedulers busy.
KERNEL_OF(hash_sha256_deep, HASH_THREAD_BLOCK, 200)
(GLOBAL const HashPiece *pieces, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL u32 *states, u32 count,
 u32 digest_bytes, u64 from, u64 to, u32 turn SHARED_PARAMETER) {
  SHARED_WORDS(words);
  const u32 messages = thread_block_size() / SHA256_DEEP_PARTS;
  const u32 own = thread_id() % messages;
  const u32 role = (thread_id() / messages + thread_block_id() / turn) % SHA256_DEEP_PARTS;
  const u32 first = thread_block_id() * messages;

  const u32 is_own = first + own < count;
  const HashPiece piece = pieces[is_own != 0 ? first + own : first];
  const HashPart part = hash_part(piece, from, to);
  const u32 is_there = is_own != 0 && part.is_none == 0;
  const u64 blocks = is_there != 0 ? (part.end - part.begin) / 64 : 0;
  u64 most = 0;
  for (u32 n = 0; n < messages && first + n < count; ++n) {
    const HashPart its = hash_part(pieces[first + n], from, to);
    const u64 has = its.is_none != 0 ? 0 : (its.end - its.begin) / 64;
    if (has > most) most = has;
  }
  const u64 at = is_there != 0 ? piece.at + part.begin : 0;

  u32 state[8], next[16];
  if (role == 0 && is_there != 0) sha256_resume(state, states, piece, part, digest_bytes);
  if (role != 0 && role - 1 < blocks) sha256_load(in + at + 64 * (role - 1), at, next);

  // Each iteration computes the schedules of three blocks and hashes the three of the previous
  // iteration.
  const u64 turns = (most + SHA256_DEEP_MAKERS - 1) / SHA256_DEEP_MAKERS;
  for (u64 now = 0; now <= turns && most != 0; ++now) {
    const u32 made_in = (u32)(now % 2) * SHA256_DEEP_MAKERS;
    if (role != 0) {
      const u64 block = SHA256_DEEP_MAKERS * now + role - 1;
      if (block < blocks) {
        u32 w[16];
        UNROLL for (int i = 0; i < 16; ++i) w[i] = next[i];
        if (block + SHA256_DEEP_MAKERS < blocks)
          sha256_load(in + at + 64 * (block + SHA256_DEEP_MAKERS), at, next);
        sha256_deep_make(w, words + 64 * SHA256_DEEP_MESSAGES * (made_in + role - 1) + 4 * own);
      }
    } else if (now != 0) {
      const u32 hashed = SHA256_DEEP_MAKERS - made_in;
      for (u32 n = 0; n < SHA256_DEEP_MAKERS; ++n)
        if (SHA256_DEEP_MAKERS * (now - 1) + n < blocks)
          sha256_deep_rounds(state, words + 64 * SHA256_DEEP_MESSAGES * (hashed + n) + 4 * own);
    }
    thread_block_barrier();
  }
  if (role == 0 && is_there != 0) sha256_leave(state, in, out, states, piece, part, digest_bytes);
}
