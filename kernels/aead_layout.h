// The structures that host and device share for authenticated modes (GCM, CCM, ChaCha20-Poly1305),
// for segments of one text, and for ChaCha20, and the shape of each launch.
//
// GHASH and Poly1305 are polynomials: Y = X_0 H^n + X_1 H^(n-1) + ... over the 16-byte blocks X of
// a message, in GF(2^128) for GHASH and modulo 2^130 - 5 for Poly1305. A message is cut into runs
// of blocks. Each run is hashed separately and multiplied by the power of H for its position, so
// the runs may be computed in any order. The sum of the runs' hashes is the hash of the message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform.h"

// HashRun is a range of consecutive bytes of one message. The last block is padded with zeros.
typedef struct HashRun {
  u64 at;        // offset from the base pointer of `source`; in chacha20_poly1305_runs, from the
                 // start of the piece
  u64 length;    // bytes, at least 1
  u64 exponent;  // of H, for the last block of the run; 1 for the last block of the message
  u32 key;       // index of the table of powers, or of the one-time key
  u32 source;    // HASH_SOURCE_*
  u32 matrices;  // GHASH: index of the set of matrices, or HASH_NO_MATRICES
  u32 piece;     // chacha20_poly1305_runs: index of the CipherPiece that contains the run
} HashRun;

#define HASH_SOURCE_DATA 0u  // the ciphertext
#define HASH_SOURCE_AAD 1u
#define HASH_NO_MATRICES 0xffffffffu

// HashSum names the runs of one piece, whose weighted hashes are added up.
typedef struct HashSum {
  u32 first_run;
  u32 run_count;
  u32 key;
  u32 closes;  // 1 if the block of lengths and the tag's mask are added to this sum
  u32 mask;    // GHASH: index of the mask
  u32 reserved[3];
  u32 lengths[4];  // the last block that is hashed (the lengths of additional data and text), as in
                   // memory
} HashSum;

// TagCheck is a message whose tag the device writes or compares. If the tag is wrong, the device
// wipes the output.
typedef struct TagCheck {
  u64 at;  // offset of the output
  u64 length;
  u64 tag_at;      // offset from the base pointer of tags (decryption: if TAG_IN_MEMORY)
  u64 verdict_at;  // if TAG_HAS_VERDICT: offset from the base pointer of verdicts
  u32 first_sum;   // index of the first sum of its pieces
  u32 sum_count;
  u32 tag_bytes;
  // TAG_* flags.
  u32 is;
  u32 tag[4];  // without TAG_IN_MEMORY: the expected tag, as in memory
} TagCheck;
#define TAG_IN_MEMORY 1u
#define TAG_HAS_VERDICT 2u
#define TAG_CHECK_THREADS 256u

// ShortMessage is a whole message of few bytes, which one thread block processes in one launch, and
// what to do with its tag. Numbers of 64 bits are stored as two words, the lower first.
typedef struct ShortMessage {
  u32 key[8];
  u32 start[4];       // GCM: J0 (SP 800-38D, 7.1); ChaCha20-Poly1305: counter 0 and the nonce
  u32 lengths[4];     // the last block of the message's hash, as in memory
  u32 tag[4];         // as in TagCheck
  u32 in[2], out[2];  // offsets from the base pointers
  u32 tag_at[2], verdict_at[2];
  u32 length;
  u32 aad_at, aad_length;  // offset from the base pointer of additional data, a multiple of 16
  u32 tag_bytes;
  u32 is;  // TAG_* flags
  u32 reserved[3];
} ShortMessage;
#define SHORT_MESSAGE_WORDS 36u
// The largest text and the largest additional data of a ShortMessage, in bytes.
#define SHORT_TEXT_BYTES 16384u
#define SHORT_AAD_BYTES 4096u
// Threads per thread block, and words of its shared memory. AES-GCM has a table, the key schedule,
// H and the mask of the tag; ChaCha20-Poly1305 has the one-time key. Both then have one sum per
// thread, the message, and a flag that says whether its tag is wrong.
#define GCM_SHORT_THREADS 256u
#define GCM_SHORT_SHARED_WORDS 9328u  // 8192 + 64 + 8 + 4 * 256 + 36 + 4
#define CHACHA20_SHORT_THREADS 128u
#define CHACHA20_SHORT_SHARED_WORDS 1080u  // 16 + 8 * 128 + 36 + 4

// SegmentShape describes a segment of one text (lc_segments). Segments are at equal distances and
// have equal lengths, except the first and the last, which may be shorter. The kernel aead_segments
// expands a SegmentRule into the structures that the later kernels read.
typedef struct SegmentShape {
  u64 length;
  u64 tiles;         // of the cipher, see CipherPiece
  u64 matrix_bytes;  // the bytes, from the segment's start, that are hashed by matrices
  u32 matrix_runs;   // the runs that those bytes are cut into
  u32 runs;          // all runs, including matrix_runs
  u32 lengths[4];    // as in HashSum
} SegmentShape;
#define SEGMENT_FIRST 0u
#define SEGMENT_BETWEEN 1u
#define SEGMENT_LAST 2u

// The offset of each segment from a base pointer.
typedef struct SegmentPlaces {
  u64 first;   // of the first segment
  u64 second;  // of the second segment
  u64 stride;  // distance between later segments
} SegmentPlaces;

// SegmentRule describes all segments of one text: where they lie, how their nonces are formed and
// what happens to their tags.
typedef struct SegmentRule {
  SegmentShape shapes[3];
  SegmentPlaces in, out;
  SegmentPlaces tag;  // for SEGMENT_TAGS_APART
  u64 verdict;        // offset of the first segment's verdict; the others follow, one byte each
  u64 run_bytes;      // the largest length of a run
  u64 number;         // the first segment's number, which its nonce contains
  u32 run_count;      // the number of runs of all segments
  u32 count;          // the number of segments
  u32 nonce[4];       // the nonce, except for the number and the flag below
  u32 nonce_bytes;    // 12; for CTR and ChaCha20, 16
  // Position and length of the number in the nonce.
  u32 number_at, number_bytes, is_little_endian;
  u32 flag_at;  // the nonce byte that is `is_end` in the last segment and 0 in the others;
                // SEGMENT_NO_FLAG if there is none
  u32 is_end;
  u32 nonces_are_given;  // 1: the caller passes each segment's nonce, and the fields above that
                         // form one are ignored
  u32 tags;              // SEGMENT_TAGS_*
  u32 check, tag_bytes;  // TagCheck's `is` and `tag_bytes`
  u32 opens;             // 1: decrypts
  u32 is_poly;           // 1: ChaCha20-Poly1305; 0: GCM, or a mode without tags
  // Segments from this one on are processed by bitsliced warps that run concurrently. Each of them
  // has `concurrent_tiles` tiles, except the last.
  u32 concurrent_from;
  u32 sums_each;  // sums per segment: 1, or 2 if its additional data has a sum, which follows the
                  // text's
  u64 concurrent_tiles;
  // Additional data, the same for all segments except for a number: the offset of the data that the
  // caller passed, and the first segment's number.
  u64 aad_at, aad_number;
  u32 aad_length;
  u32 aad_number_at, aad_number_bytes, aad_is_little_endian;
} SegmentRule;
#define SEGMENT_NO_FLAG 0xffffffffu
// The position of a segment's tag: at `tag`, or right after the segment's output or input.
#define SEGMENT_TAGS_APART 0u
#define SEGMENT_TAGS_BEHIND_OUT 1u
#define SEGMENT_TAGS_BEHIND_IN 2u
#define SEGMENT_THREADS 128u

// SegmentGraphUpdate says how nonces continue when a CUDA graph repeats segments: each launch of
// the graph takes the next numbers. It persists from one launch to the next, as the SegmentRule
// does.
typedef struct SegmentGraphUpdate {
  u64 next;        // encryption: the first segment's number in the next launch
  u64 left;        // the number of launches that may still encrypt
  u64 nonce_at;    // if GRAPH_UPDATE_HAS_NONCE: offset from the base pointer of nonces
  u64 verdict_at;  // encryption: offset from the base pointer of verdicts
  // GRAPH_UPDATE_* flags.
  u32 has;
  u32 is_refused;  // 1: this launch must not encrypt
} SegmentGraphUpdate;
#define GRAPH_UPDATE_HAS_NONCE 1u

// A weighted hash takes 8 words: GHASH uses the 4 words of Gf128, Poly1305 uses 5 limbs.
#define HASH_WORDS 8u

// A table of powers holds H^(j * 32^level) for j from 0 to 31, 4 words each, for each level. It has
// as many levels as the largest exponent needs, at least two.
#define GHASH_LEVEL_WORDS 128u
#define GHASH_MOST_LEVELS 13u

// Threads per thread block and words of shared memory. A thread block hashes one run at a time.
#define HASH_RUN_THREADS 32u
#define HASH_RUN_SHARED_WORDS 256u
#define HASH_SUM_THREADS 128u
#define HASH_SUM_SHARED_WORDS 1024u
#define HASH_KEY_THREADS 32u

// GHASH by bit matrices (ghash_matrix.h): the blocks that a warp hashes at once, the threads per
// thread block, and the words of a key's matrices.
#define GHASH_TILE_BLOCKS 512u
#define GHASH_MATRIX_THREADS 256u
#define GHASH_MATRIX_WORDS 8704u          // 16 * 32 * 16 + 16 * 32
#define GHASH_MATRIX_SHARED_WORDS 10752u  // matrices, and 256 per warp
#define GHASH_MATRIX_ENTRIES 272u         // threads that make one key's matrices

// A set of matrices belongs to one key and one skew: it serves runs that begin `skew` bytes after a
// multiple of 16.
#define GHASH_SET(key, skew) (16u * (key) + (skew))
#define GHASH_SET_KEY(set) ((set) / 16u)
#define GHASH_SET_SKEW(set) ((set) % 16u)

// GhashBatch names runs of one key that one thread block hashes, one run per warp.
typedef struct GhashBatch {
  u32 first_run;
  u32 run_count;
  u32 matrices;
  u32 reserved;
} GhashBatch;

// OneTimeKey says how to derive a one-time key of Poly1305 (RFC 8439, 2.6). The derived key takes
// POLY1305_KEY_WORDS: r in limbs of 26 bits, and s from word 8 on.
typedef struct OneTimeKey {
  u32 key;
  u32 nonce[3];
} OneTimeKey;
#define POLY1305_KEY_WORDS 16u
// A piece's sum: 5 limbs below 2^27, and s from word 8 on.
#define POLY1305_SUM_WORDS 12u
#define POLY1305_RUN_SHARED_WORDS 320u

// Poly1305 by byte matrices (poly1305_matrix.h): the bytes that a warp hashes at once, and the
// words of a key: its matrices, the step from tile to tile, and the sum of the bits that Poly1305
// sets above each block.
#define POLY1305_TILE_BYTES 16384u
#define POLY1305_MATRIX_THREADS 256u
#define POLY1305_MATRIX_WORDS 6160u         // 4 * 4 * 32 * 12 + 16
#define POLY1305_WARP_WORDS 416u            // per warp: 24 * 16, and 32 of the cipher
#define POLY1305_MATRIX_SHARED_WORDS 9488u  // matrices, and 416 per warp
#define POLY1305_MATRIX_ENTRIES 257u        // threads that make one key's matrices

// CcmStream is what the kernel of CCM (SP 800-38C) needs for a stream in addition to its
// CipherPiece, whose bytes are the text. The blocks that enter the MAC before the text (B_0 and the
// additional data) lie in memory as whole blocks.
typedef struct CcmStream {
  u64 header;  // offset from the base pointer of headers
  u64 header_bytes;
  u64 first_block;  // the number of the piece's first block within the text
  u32 counter[4];   // counter block 0, as in memory
  u32 result;       // index where the MAC is written or, if `ends`, the tag
  u32 ends;         // 1: the stream ends its message
} CcmStream;

// ChaCha20: threads per thread block. A tile is one block of 64 bytes for each thread of a warp.
#define CHACHA20_THREADS 128u
#define CHACHA20_BLOCK_BYTES 64u
// The kernels for unaligned texts use warps of 32 threads on any device, with shared memory for
// each warp.
#define CHACHA20_UNALIGNED_WARP 32u
#define CHACHA20_UNALIGNED_SHARED_WORDS 128u
