// What the host and the kernels of hashes tell each other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// Threads of a thread block.
#define HASH_THREAD_BLOCK 128
// So many values of a tree's leaves, or of what was made of them, become one in a launch.
#define HASH_SPAN 512
#define HASH_VALUE_WORDS 8
#define HASH_TREE_WORDS (HASH_SPAN * HASH_VALUE_WORDS)
// Bytes of BLAKE3's leaves, and the longest message that one thread hashes.
#define BLAKE3_CHUNK 1024
#define BLAKE3_MOST_LEVELS 12
#define BLAKE3_MOST_ALONE ((u64)BLAKE3_CHUNK << BLAKE3_MOST_LEVELS)
// hash_sha256_deep: the parts of a thread block, of which all but one make schedules; the most
// messages of a thread block; and words of shared memory: of each message the blocks that are
// hashed and those that are being made. Words of other messages lie between those of one, always as
// many, so that a compiler knows how far apart these are.
#define SHA256_DEEP_PARTS 4
#define SHA256_DEEP_MAKERS (SHA256_DEEP_PARTS - 1)
#define SHA256_DEEP_MESSAGES (HASH_THREAD_BLOCK / SHA256_DEEP_PARTS)
#define SHA256_DEEP_WORDS (2 * SHA256_DEEP_MAKERS * 64 * SHA256_DEEP_MESSAGES)
// What one state of a message holds between two launches, for any hash.
#define HASH_STATE_WORDS 50

// What one thread hashes: a message, or the next part of one.
typedef struct HashPiece {
  u64 at;      // its first byte, from the base of all inputs
  u64 bytes;   // whole blocks, unless the message ends with it
  u64 before;  // bytes of the message before it, whole blocks
  u64 out;     // where the digest goes, from the base of all outputs
  u32 state;   // the number of its state
  u32 ends;    // whether the message ends with it
} HashPiece;

// Of all pieces, a launch hashes the bytes from `from` to `to`. Both are whole blocks; `to` may be
// beyond the end.
typedef struct HashPart {
  u64 begin, end;
  u32 goes_on;  // there is a state
  u32 is_last;  // the message ends
  u32 is_none;  // it ended in an earlier launch
} HashPart;

FN HashPart hash_part(HashPiece piece, u64 from, u64 to) {
  HashPart part;
  part.begin = from < piece.bytes ? from : piece.bytes;
  part.end = to < piece.bytes ? to : piece.bytes;
  part.goes_on = piece.before + part.begin != 0;
  part.is_last = piece.ends != 0 && to >= piece.bytes;
  part.is_none = from != 0 && piece.bytes <= from;
  return part;
}
