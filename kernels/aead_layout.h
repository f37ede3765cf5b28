// What host and device agree on for authenticated modes: runs of bytes to be
// hashed, the sums that become tags, and the shape of each launch.
//
// A hash here is a polynomial: Y = X_0 H^n + X_1 H^(n-1) + ... over the 16-byte blocks X
// of a message, in GF(2^128) for GHASH and modulo 2^130 - 5 for Poly1305. It is cut into
// runs of blocks. Each run is hashed by itself and multiplied by the power of H for its
// place, so the runs may come in any order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform.h"

// Consecutive bytes of one message; the last block is filled with zeros.
typedef struct HashRun {
  u64 at;        // from the base pointer of `source`; chacha20_poly1305_runs:
                 // from the start of the piece
  u64 length;    // bytes, at least 1
  u64 exponent;  // of H for the last block of the run: 1 for the last of all
  u32 key;       // which table of powers, or which one-time key
  u32 source;    // HASH_SOURCE_*
  u32 matrices;  // GHASH: which set of matrices, or HASH_NO_MATRICES
  u32 piece;     // chacha20_poly1305_runs: the CipherPiece that it is a part of
} HashRun;

#define HASH_SOURCE_DATA 0u  // the ciphertext
#define HASH_SOURCE_AAD 1u
#define HASH_NO_MATRICES 0xffffffffu

// The runs of one piece, whose weighted hashes are added up.
typedef struct HashSum {
  u32 first_run;
  u32 run_count;
  u32 key;
  u32 closes;  // 1: the block of lengths and the tag's mask are added here
  u32 mask;    // GHASH: which of the masks
  u32 reserved[3];
  u32 lengths[4];  // the last block of the message's hash, as in memory
} HashSum;

// A message whose tag is written, or compared, on the device. Its output is wiped if the
// tag is wrong.
typedef struct TagCheck {
  u64 at;  // of the output
  u64 length;
  u64 tag_at;      // TAG_IN_MEMORY: from the base pointer of tags
  u64 verdict_at;  // TAG_HAS_VERDICT: from the base pointer of verdicts
  u32 first_sum;   // sums of its pieces
  u32 sum_count;
  u32 tag_bytes;
  u32 is;
  u32 tag[4];  // otherwise: the caller's, as in memory
} TagCheck;
#define TAG_IN_MEMORY 1u
#define TAG_HAS_VERDICT 2u
#define TAG_CHECK_THREADS 256u

// A whole message of few bytes, which one thread block does in one launch, and what is to be
// done with its tag. Numbers of 64 bits are two words, the lower first.
typedef struct ShortMessage {
  u32 key[8];
  u32 start[4];       // GCM: J0 (SP 800-38D, 7.1); ChaCha20-Poly1305: counter 0 and the nonce
  u32 lengths[4];     // the last block of the message's hash, as in memory
  u32 tag[4];         // as TagCheck has it
  u32 in[2], out[2];  // from the base pointers
  u32 tag_at[2], verdict_at[2];
  u32 length;
  u32 aad_at, aad_length;  // from the base pointer of additional data, a multiple of 16
  u32 tag_bytes;
  u32 is;  // TAG_*
  u32 reserved[3];
} ShortMessage;
#define SHORT_MESSAGE_WORDS 36u
// The most bytes of its text, and of its additional data.
#define SHORT_TEXT_BYTES 16384u
#define SHORT_AAD_BYTES 4096u
// Threads of a thread block, and words of its shared memory: in GCM a table, the key schedule, H
// and the mask of the tag, in ChaCha20-Poly1305 the one-time key, and then in both a sum of each
// thread, the message, and whether its tag is wrong.
#define GCM_SHORT_THREADS 256u
#define GCM_SHORT_SHARED_WORDS 9328u  // 8192 + 64 + 8 + 4 * 256 + 36 + 4
#define CHACHA20_SHORT_THREADS 128u
#define CHACHA20_SHORT_SHARED_WORDS 1080u  // 16 + 8 * 128 + 36 + 4

// Segments of one text (lc_segments), which lie at one distance and are alike, but for the first
// and the last, which may be shorter. aead_segments makes of them what the kernels after it read.
typedef struct SegmentShape {
  u64 length;
  u64 tiles;         // of the cipher
  u64 matrix_bytes;  // those of its bytes, from its beginning on, that are hashed by matrices
  u32 matrix_runs;
  u32 runs;        // with these
  u32 lengths[4];  // HashSum's
} SegmentShape;
#define SEGMENT_FIRST 0u
#define SEGMENT_BETWEEN 1u
#define SEGMENT_LAST 2u

typedef struct SegmentPlaces {
  u64 first;   // of the first segment, from the base pointer
  u64 second;  // of the one after it
  u64 stride;  // from there on
} SegmentPlaces;

typedef struct SegmentRule {
  SegmentShape shapes[3];
  SegmentPlaces in, out;
  SegmentPlaces tag;  // SEGMENT_TAGS_APART
  u64 verdict;        // of the first; the others follow
  u64 run_bytes;      // most of a run
  u64 number;         // of the first, in its nonce
  u32 run_count;      // of all segments
  u32 count;
  u32 nonce[4];     // but for what follows
  u32 nonce_bytes;  // 12, or 16 of CTR and ChaCha20
  u32 number_at, number_bytes, is_little_endian;
  u32 flag_at;  // the byte that is `is_end` in the last segment and 0 in the others;
                // SEGMENT_NO_FLAG: there is none
  u32 is_end;
  u32 nonces_are_given;  // each segment's, and nothing of this counts
  u32 tags;              // SEGMENT_TAGS_*
  u32 check, tag_bytes;  // TagCheck's `is` and `tag_bytes`
  u32 opens;
  u32 is_poly;  // ChaCha20-Poly1305; otherwise GCM, or a mode without tags
  // From this segment on bitsliced warps take them, with so many tiles each but for the last.
  u32 concurrent_from;
  u32 sums_each;  // of each segment's hash: 1, or 2 with that of additional data behind the text's
  u64 concurrent_tiles;
  // Additional data, the same for all segments but for a number: where they are given, and that of
  // the first segment.
  u64 aad_at, aad_number;
  u32 aad_length;
  u32 aad_number_at, aad_number_bytes, aad_is_little_endian;
} SegmentRule;
#define SEGMENT_NO_FLAG 0xffffffffu
#define SEGMENT_TAGS_APART 0u
#define SEGMENT_TAGS_BEHIND_OUT 1u
#define SEGMENT_TAGS_BEHIND_IN 2u
#define SEGMENT_THREADS 128u

// Of segments that a graph does again at each launch: how their nonces go on. It stays from one
// launch to the next, as the rule does.
typedef struct SegmentGraphUpdate {
  u64 next;        // encryption: the number of the next launch's first segment
  u64 left;        // how many launches may still encrypt
  u64 nonce_at;    // GRAPH_UPDATE_HAS_NONCE: where it is, from the base pointer of nonces
  u64 verdict_at;  // encryption: from the base pointer of verdicts
  u32 has;
  u32 is_refused;  // this launch must not encrypt
} SegmentGraphUpdate;
#define GRAPH_UPDATE_HAS_NONCE 1u

// A weighted hash takes 8 words: GHASH the 4 of Gf128, Poly1305 5 limbs.
#define HASH_WORDS 8u

// H^(j * 32^level) for j from 0 to 31, 4 words each, for each level. There are as many
// levels as the largest exponent needs, at least two.
#define GHASH_LEVEL_WORDS 128u
#define GHASH_MOST_LEVELS 13u

// Threads a thread block. A thread block takes one run at a time.
#define HASH_RUN_THREADS 32u
#define HASH_RUN_SHARED_WORDS 256u
#define HASH_SUM_THREADS 128u
#define HASH_SUM_SHARED_WORDS 1024u
#define HASH_KEY_THREADS 32u

// The form of GHASH that multiplies by bit matrices (ghash_matrix.h): the blocks that a
// warp takes at once, the matrices of a key, and their words.
#define GHASH_TILE_BLOCKS 512u
#define GHASH_MATRIX_THREADS 256u
#define GHASH_MATRIX_WORDS 8704u          // 16 * 32 * 16 + 16 * 32
#define GHASH_MATRIX_SHARED_WORDS 10752u  // and 256 for each warp
#define GHASH_MATRIX_ENTRIES 272u         // threads that make one key's matrices

// Which matrices a set has: those of a key, for runs that lie so many bytes behind a multiple
// of 16.
#define GHASH_SET(key, skew) (16u * (key) + (skew))
#define GHASH_SET_KEY(set) ((set) / 16u)
#define GHASH_SET_SKEW(set) ((set) % 16u)

// Runs of one key that one thread block takes, one for each warp.
typedef struct GhashBatch {
  u32 first_run;
  u32 run_count;
  u32 matrices;
  u32 reserved;
} GhashBatch;

// Poly1305: where a one-time key comes from (RFC 8439, 2.6), and the key: r in limbs of
// 26 bits, and from word 8 on s.
typedef struct OneTimeKey {
  u32 key;
  u32 nonce[3];
} OneTimeKey;
#define POLY1305_KEY_WORDS 16u
// A piece's sum: 5 limbs below 2^27, and from word 8 on s.
#define POLY1305_SUM_WORDS 12u
#define POLY1305_RUN_SHARED_WORDS 320u

// The form of Poly1305 that multiplies by byte matrices (poly1305_matrix.h): the bytes
// that a warp takes at once, and the words of a key: matrices, the step, and what the
// bits above blocks add.
#define POLY1305_TILE_BYTES 16384u
#define POLY1305_MATRIX_THREADS 256u
#define POLY1305_MATRIX_WORDS 6160u         // 4 * 4 * 32 * 12 + 16
#define POLY1305_WARP_WORDS 416u            // 24 * 16, and 32 of the cipher
#define POLY1305_MATRIX_SHARED_WORDS 9488u  // and those of each of 8 warps
#define POLY1305_MATRIX_ENTRIES 257u        // threads that make one key's matrices

// CCM: what a stream's kernel must know beside its CipherPiece, whose bytes are
// text. What goes into the MAC before them lies in memory as whole blocks.
typedef struct CcmStream {
  u64 header;  // from the base pointer of headers
  u64 header_bytes;
  u64 first_block;  // of the text: the number of the piece's first
  u32 counter[4];   // block 0, as in memory
  u32 result;       // where its MAC goes, or, if it ends, its tag
  u32 ends;
} CcmStream;

// ChaCha20: threads a thread block; a tile is a block of 64 bytes for each thread of a
// warp.
#define CHACHA20_THREADS 128u
#define CHACHA20_BLOCK_BYTES 64u
// For texts at any address a warp is a warp, on any device, with shared memory for each.
#define CHACHA20_UNALIGNED_WARP 32u
#define CHACHA20_UNALIGNED_SHARED_WORDS 128u
