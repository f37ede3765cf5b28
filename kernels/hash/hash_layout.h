// Constants and structures that the host and the hash kernels share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// Threads in a thread block.
#define HASH_THREAD_BLOCK 128
// `HASH_SPAN` is how many values of a tree (leaves or nodes) one thread block reduces to one value
// in a launch.
#define HASH_SPAN 512
#define HASH_VALUE_WORDS 8
#define HASH_TREE_WORDS (HASH_SPAN * HASH_VALUE_WORDS)
// `BLAKE3_CHUNK` is the length of a BLAKE3 chunk in bytes. `BLAKE3_MOST_ALONE` is the longest
// message in bytes that one thread hashes.
#define BLAKE3_CHUNK 1024
#define BLAKE3_MOST_LEVELS 12
#define BLAKE3_MOST_ALONE ((u64)BLAKE3_CHUNK << BLAKE3_MOST_LEVELS)
// Layout of hash_sha256_deep. A thread block has SHA256_DEEP_PARTS parts; all but one compute
// message schedules. It hashes at most SHA256_DEEP_MESSAGES messages. SHA256_DEEP_WORDS is its
// shared memory in words: for each message, the blocks that are being hashed and those whose
// schedules are being made. The words of one message are interleaved with those of the others at a
// fixed stride, so that the compiler knows their distance.
#define SHA256_DEEP_PARTS 4
#define SHA256_DEEP_MAKERS (SHA256_DEEP_PARTS - 1)
#define SHA256_DEEP_MESSAGES (HASH_THREAD_BLOCK / SHA256_DEEP_PARTS)
#define SHA256_DEEP_WORDS (2 * SHA256_DEEP_MAKERS * 64 * SHA256_DEEP_MESSAGES)
// Words of a message's state that are kept between two launches, for any hash.
#define HASH_STATE_WORDS 50

// `HashPiece` is what one thread hashes: a whole message, or the next part of one.
typedef struct HashPiece {
  u64 at;      // offset of its first byte from the base of all inputs
  u64 bytes;   // a multiple of the block length, unless the message ends here
  u64 before;  // bytes of the message before this piece, a multiple of the block length
  u64 out;     // offset of the digest from the base of all outputs
  u32 state;   // index of its state
  u32 ends;    // the message ends with this piece
} HashPiece;

// `HashPart` is the part of a piece that one launch hashes. A launch hashes bytes `from` to `to` of
// every piece. Both are multiples of the block length; `to` may be beyond the end of the piece.
typedef struct HashPart {
  u64 begin, end;
  u32 goes_on;  // continues from a stored state
  u32 is_last;  // the message ends
  u32 is_none;  // nothing to do: the message ended in an earlier launch
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
