// SHA-3 and SHAKE of many messages (FIPS 202, section 6), and the leaf blocks of ParallelHash (SP
// 800-185, section 6), one thread for each message or block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/bytes.h"
#include "kernels/hash/hash_layout.h"
#include "kernels/hash/keccak.h"

// The longest rate, that of SHAKE128, in words of 8 bytes.
#define KECCAK_MOST_RATE 21
#define SHAKE_PAD 0x1fu

// `keccak_blocks` absorbs all whole blocks of `rate` words between the offsets `at` and `end` of
// `in` (FIPS 202, Algorithm 8, SPONGE).
FN void keccak_blocks(u64 *state, GLOBAL const u8 *in, u64 at, u64 end, u32 rate) {
  for (; at + 8 * rate <= end; at += 8 * rate) {
    UNROLL for (u32 i = 0; i < KECCAK_MOST_RATE; ++i) if (i < rate) state[i] ^=
        bytes_word_64(in + at + 8 * i, at);
    keccak_f1600(state);
  }
}

// `keccak_finish` absorbs the last block: `left` bytes, which are fewer than the rate, the domain
// bits in `pad`, and the padding (FIPS 202, Algorithm 9, pad10*1, and section B.2).
FN void keccak_finish(u64 *state, GLOBAL const u8 *from, u32 left, u32 rate, u32 pad) {
  UNROLL for (u32 i = 0; i < KECCAK_MOST_RATE; ++i) {
    if (i < rate)
      state[i] ^= bytes_last_word(from, left, 2 * i, pad) |
                  (u64)bytes_last_word(from, left, 2 * i + 1, pad) << 32;
    if (i + 1 == rate) state[i] ^= (u64)1 << 63;
  }
  keccak_f1600(state);
}

// `keccak_squeeze` writes `bytes` bytes of output (FIPS 202, Algorithm 8, SPONGE). `state` is
// already permuted.
FN void keccak_squeeze(u64 *state, GLOBAL u8 *out, u64 bytes, u32 rate) {
  for (u64 done = 0; done < bytes; done += 8 * rate) {
    if (done != 0) keccak_f1600(state);
    UNROLL for (u32 i = 0; i < KECCAK_MOST_RATE; ++i) {
      if (i < rate) {
        bytes_store(out, done + 8 * i, bytes, (u32)state[i]);
        bytes_store(out, done + 8 * i + 4, bytes, (u32)(state[i] >> 32));
      }
    }
  }
}

// `hash_keccak` hashes bytes `from` to `to` of each piece, one piece for each thread. `rate` is in
// words of 8 bytes. `pad` is the domain suffix with the first bit of the padding.
KERNEL(hash_keccak, HASH_THREAD_BLOCK)
(GLOBAL const HashPiece *pieces, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL u32 *states, u32 count,
 u64 digest_bytes, u64 from, u64 to, u32 rate, u32 pad) {
  const u32 n = thread_block_id() * thread_block_size() + thread_id();
  if (n >= count) return;
  const HashPiece piece = pieces[n];
  const HashPart part = hash_part(piece, from, to);
  if (part.is_none != 0) return;
  GLOBAL u64 *const kept = (GLOBAL u64 *)(states + (u64)HASH_STATE_WORDS * piece.state);
  u64 state[25];
  UNROLL for (int i = 0; i < 25; ++i) state[i] = part.goes_on != 0 ? kept[i] : 0;
  keccak_blocks(state, in, piece.at + part.begin, piece.at + part.end, rate);
  if (part.is_last == 0) {
    UNROLL for (int i = 0; i < 25; ++i) kept[i] = state[i];
    return;
  }
  const u32 left = (u32)(piece.bytes % (8 * rate));
  keccak_finish(state, in + piece.at + piece.bytes - left, left, rate, pad);
  keccak_squeeze(state, out + piece.out, digest_bytes, rate);
}

// `hash_parallel_leaves` hashes each block of one message with SHAKE to `value_bytes` bytes (SP
// 800-185, section 6.3, ParallelHash). Its parameters are those of hash_merkle_leaves.
KERNEL(hash_parallel_leaves, HASH_THREAD_BLOCK)
(GLOBAL const u8 *in, u64 at, u64 bytes, u64 leaf_bytes, u32 count, GLOBAL u8 *values, u64 to,
 u32 rate, u32 value_bytes) {
  const u32 n = thread_block_id() * thread_block_size() + thread_id();
  if (n >= count) return;
  const u64 from = (u64)n * leaf_bytes;
  const u64 length = bytes - from < leaf_bytes ? bytes - from : leaf_bytes;
  u64 state[25];
  UNROLL for (int i = 0; i < 25; ++i) state[i] = 0;
  keccak_blocks(state, in, at + from, at + from + length, rate);
  const u32 left = (u32)(length % (8 * rate));
  keccak_finish(state, in + at + from + length - left, left, rate, SHAKE_PAD);
  keccak_squeeze(state, values + (to + n) * value_bytes, value_bytes, rate);
}
