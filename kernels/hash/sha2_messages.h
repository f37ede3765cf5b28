// SHA-2 of many messages (FIPS 180-4), one thread for each message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/bytes.h"
#include "kernels/hash/hash_layout.h"
#include "kernels/hash/sha256.h"
#include "kernels/hash/sha512.h"

#define SHA2_PAD 0x80u

// `sha256_load` reads a block of 64 bytes as 16 big-endian words. `at` gives the alignment; see
// bytes_block().
FN void sha256_load(GLOBAL const u8 *from, u64 at, u32 *w) {
  UNROLL for (int i = 0; i < 4; ++i) {
    const Block b = bytes_block(from + 16 * i, at);
    UNROLL for (int k = 0; k < 4; ++k) w[4 * i + k] = SWAP_BYTES(b.w[k]);
  }
}

// `sha256_blocks` hashes all whole blocks between the offsets `at` and `end` of `in`.
FN void sha256_blocks(u32 *state, GLOBAL const u8 *in, u64 at, u64 end) {
  for (; at + 64 <= end; at += 64) {
    u32 w[16];
    sha256_load(in + at, at, w);
    sha256_compress(state, w);
  }
}

// `sha256_finish` hashes the last one or two blocks with their padding (FIPS 180-4, section 5.1.1).
// `left` bytes remain, fewer than a block; `total` is the length of the message in bytes. If
// `has_first` is 1, the byte `first` precedes them, which inputs of a Merkle tree need.
FN void sha256_finish(u32 *state, GLOBAL const u8 *from, u32 left, u64 total, u32 has_first,
                      u32 first) {
  const u32 in_block = left + has_first, blocks = in_block < 56 ? 1 : 2;
  for (u32 block = 0; block < blocks; ++block) {
    u32 w[16];
    UNROLL for (u32 i = 0; i < 16; ++i) {
      u32 word = 0;
      for (u32 k = 0; k < 4; ++k) {
        const u32 place = 64 * block + 4 * i + k, n = place - has_first;
        u32 byte = 0;
        if (has_first != 0 && place == 0)
          byte = first;
        else if (n < left)
          byte = from[n];
        else if (n == left)
          byte = SHA2_PAD;
        word = word << 8 | byte;
      }
      w[i] = word;
    }
    if (block + 1 == blocks) {
      w[14] = (u32)(total >> 29);
      w[15] = (u32)total << 3;
    }
    sha256_compress(state, w);
  }
}

// `sha256_resume` loads the state of an earlier launch, or the initial hash value.
FN void sha256_resume(u32 *state, GLOBAL const u32 *states, HashPiece piece, HashPart part,
                      u32 digest_bytes) {
  if (part.goes_on != 0) {
    UNROLL for (int i = 0; i < 8; ++i) state[i] = states[(u64)HASH_STATE_WORDS * piece.state + i];
  } else if (digest_bytes == 28) {
    sha224_start(state);
  } else {
    sha256_start(state);
  }
}

// `sha256_leave` writes the digest if the message ends, and otherwise its state.
FN void sha256_leave(u32 *state, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL u32 *states,
                     HashPiece piece, HashPart part, u32 digest_bytes) {
  if (part.is_last == 0) {
    UNROLL for (int i = 0; i < 8; ++i) states[(u64)HASH_STATE_WORDS * piece.state + i] = state[i];
    return;
  }
  const u32 left = (u32)(piece.bytes % 64);
  sha256_finish(state, in + piece.at + piece.bytes - left, left, piece.before + piece.bytes, 0, 0);
  UNROLL for (u32 i = 0; i < 8; ++i)
      bytes_store(out + piece.out, 4 * i, digest_bytes, SWAP_BYTES(state[i]));
}

// `hash_sha256` hashes bytes `from` to `to` of each piece with SHA-256, or with SHA-224 if
// `digest_bytes` is 28. One piece for each thread.
KERNEL(hash_sha256, HASH_THREAD_BLOCK)
(GLOBAL const HashPiece *pieces, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL u32 *states, u32 count,
 u32 digest_bytes, u64 from, u64 to) {
  const u32 n = thread_block_id() * thread_block_size() + thread_id();
  if (n >= count) return;
  const HashPiece piece = pieces[n];
  const HashPart part = hash_part(piece, from, to);
  if (part.is_none != 0) return;
  u32 state[8];
  sha256_resume(state, states, piece, part, digest_bytes);
  sha256_blocks(state, in, piece.at + part.begin, piece.at + part.end);
  sha256_leave(state, in, out, states, piece, part, digest_bytes);
}

FN u64 swap_bytes_64(u64 x) { return (u64)SWAP_BYTES((u32)x) << 32 | SWAP_BYTES((u32)(x >> 32)); }

// `sha512_blocks` hashes all whole blocks between the offsets `at` and `end` of `in`.
FN void sha512_blocks(u64 *state, GLOBAL const u8 *in, u64 at, u64 end) {
  for (; at + 128 <= end; at += 128) {
    u64 w[16];
    UNROLL for (int i = 0; i < 8; ++i) {
      const Block b = bytes_block(in + at + 16 * i, at);
      w[2 * i] = (u64)SWAP_BYTES(b.w[0]) << 32 | SWAP_BYTES(b.w[1]);
      w[2 * i + 1] = (u64)SWAP_BYTES(b.w[2]) << 32 | SWAP_BYTES(b.w[3]);
    }
    sha512_compress(state, w);
  }
}

// `sha512_finish` hashes the last one or two blocks with their padding (FIPS 180-4, section 5.1.2).
FN void sha512_finish(u64 *state, GLOBAL const u8 *from, u32 left, u64 total) {
  const u32 blocks = left < 112 ? 1 : 2;
  for (u32 block = 0; block < blocks; ++block) {
    u64 w[16];
    UNROLL for (u32 i = 0; i < 16; ++i) {
      const u32 n = 32 * block + 2 * i;
      w[i] = (u64)SWAP_BYTES(bytes_last_word(from, left, n, SHA2_PAD)) << 32 |
             SWAP_BYTES(bytes_last_word(from, left, n + 1, SHA2_PAD));
    }
    if (block + 1 == blocks) {
      w[14] = total >> 61;
      w[15] = total << 3;
    }
    sha512_compress(state, w);
  }
}

// `hash_sha512` is hash_sha256 for SHA-512, or for SHA-384 if `digest_bytes` is 48.
KERNEL(hash_sha512, HASH_THREAD_BLOCK)
(GLOBAL const HashPiece *pieces, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL u32 *states, u32 count,
 u32 digest_bytes, u64 from, u64 to) {
  const u32 n = thread_block_id() * thread_block_size() + thread_id();
  if (n >= count) return;
  const HashPiece piece = pieces[n];
  const HashPart part = hash_part(piece, from, to);
  if (part.is_none != 0) return;
  GLOBAL u64 *const kept = (GLOBAL u64 *)(states + (u64)HASH_STATE_WORDS * piece.state);
  u64 state[8];
  if (part.goes_on != 0) {
    UNROLL for (int i = 0; i < 8; ++i) state[i] = kept[i];
  } else if (digest_bytes == 48) {
    sha384_start(state);
  } else {
    sha512_start(state);
  }
  sha512_blocks(state, in, piece.at + part.begin, piece.at + part.end);
  if (part.is_last == 0) {
    UNROLL for (int i = 0; i < 8; ++i) kept[i] = state[i];
    return;
  }
  const u32 left = (u32)(piece.bytes % 128);
  sha512_finish(state, in + piece.at + piece.bytes - left, left, piece.before + piece.bytes);
  UNROLL for (u32 i = 0; i < 8; ++i) {
    const u64 word = swap_bytes_64(state[i]);
    bytes_store(out + piece.out, 8 * i, digest_bytes, (u32)word);
    bytes_store(out + piece.out, 8 * i + 4, digest_bytes, (u32)(word >> 32));
  }
}
