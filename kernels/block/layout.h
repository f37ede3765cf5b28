// What host and device agree on for block ciphers of 16-byte blocks: the layouts
// that travel between them and the shape of each launch. What differs from cipher
// to cipher is in ciphers.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// A run of bytes of one message under one key; a launch takes a list of them.
// `in` and `out` count from the launch's base pointers. The first block is
// block 0 of `iv`: the counter block of CTR, the previous ciphertext of CBC.
typedef struct CipherPiece {
  u64 in;
  u64 out;
  u64 length;      // bytes; what the mode allows
  u64 first_tile;  // tiles of all pieces before this one
  u32 key;         // which key schedule
  u32 chain;       // chains: which chain value is this stream's
  u32 continues;   // 1 takes, instead of iv, the chain value (chains) or the 16
                   // bytes before `in` (CBC and CFB decryption)
  // CBC with ciphertext stealing: after `length` bytes of plain CBC come 17 to
  // 32 bytes, the last two blocks, which are exchanged or not; or none do.
  u16 tail_bytes, swapped;
  u32 iv[4];  // 16 bytes as four little-endian words
  // XTS, see xts_tweak.h:
  u64 slots;        // of all its data units
  u32 unit_bytes;   // of a data unit; the last may have fewer
  u32 first_point;  // points of all pieces before this one
} CipherPiece;

// A raw key takes 8 words. Its schedule has as many as BLOCK_SCHEDULE_WORDS of its
// cipher, in order of use; a bitsliced schedule 32 words for each of them: word
// 32 * i + j is bit j of word i, for 32 blocks.
#define BLOCK_KEY_WORDS 8u
// Where a thread has a stream, and threads side by side have keys of their own, the
// schedules of 32 keys lie side by side: after round key r of all of them, 4 words
// each, comes r + 1. So many words from one round key to the next, and where a key's
// begin:
#define BLOCK_STREAM_KEYS 32u
#define BLOCK_STREAM_KEY_STEP (4u * BLOCK_STREAM_KEYS)
#define BLOCK_STREAM_KEY_WORD(key)                                                 \
  ((u64)((key) / BLOCK_STREAM_KEYS) * (BLOCK_STREAM_KEYS * BLOCK_SCHEDULE_WORDS) + \
   (key) % BLOCK_STREAM_KEYS * 4)

// Slots of XTS from point to point; and how many points more than there are a
// thread may read, whose last tile ends behind the last unit.
#define XTS_STRETCH 4096u
#define XTS_SPARE_POINTS 2048u

// Blocks that one thread takes at a time; a tile is WARP_THREADS times as many.
#define BLOCK_TABLE_BLOCKS 4u
#define BLOCK_BITSLICE_BLOCKS 32u

// CTR has tiles of another shape, which lie in windows of 256 * rows counters:
// a thread's counters keep byte 15, its column, and only byte 14, their row,
// changes. So a window begins where the low bits of the counter are zero, and
// the first of a piece may have counters before its first. A tile of the table
// forms is BLOCK_TABLE_BLOCKS * WARP_THREADS columns of `rows` rows, up to
// BLOCK_MOST_ROWS: more of them share more work, fewer reach more threads. With one
// row a piece's tiles begin with that of its first counter.
// A tile of the bitsliced form is WARP_THREADS columns of `rows` rows, a multiple
// of 32; with rows 0, for small pieces, it has no windows but tiles as in ECB.
#define BLOCK_COLUMN_TILES (256u / (BLOCK_TABLE_BLOCKS * WARP_THREADS))
#define BLOCK_BITSLICE_COLUMN_TILES (256u / WARP_THREADS)
#define BLOCK_MOST_ROWS 32u
#define BLOCK_BITSLICE_ROWS 64u
#define BLOCK_BITSLICE_FEW_ROWS 32u

// Threads a thread block, and words of shared memory, of each form.
#define BLOCK_TABLE4_THREADS 512u
#define BLOCK_TABLE4_SHARED_WORDS 32768u  // four tables, 32 copies
// XTS, which shares its multiprocessor with nothing: as many threads of 80 registers as
// 65,536 are for, which hide more of each other's waiting.
#define BLOCK_TABLE4_XTS_THREADS 768u
// CBC encryption: and four blocks of each thread's stream.
#define BLOCK_TABLE4_CHAIN_WORDS (BLOCK_TABLE4_SHARED_WORDS + 16 * BLOCK_TABLE4_THREADS)
#define BLOCK_TABLE1_THREADS 512u
#define BLOCK_TABLE1_SHARED_WORDS 8192u  // one table, 32 copies
#define BLOCK_BITSLICE_THREADS 256u
#define BLOCK_KEY_THREADS 128u
// And of the kernels that take a stream a thread, or 32 of them: where thread blocks cannot
// be made smaller at the launch, LC_CHAIN_THREADS makes them so for all (see
// device::Properties::chain_thread_block_size).
#ifdef LC_CHAIN_THREADS
#define BLOCK_CHAIN_THREADS(threads) LC_CHAIN_THREADS
#define BLOCK_BITSLICE_CHAIN_THREADS WARP_THREADS
#else
#define BLOCK_CHAIN_THREADS(threads) threads
#define BLOCK_BITSLICE_CHAIN_THREADS BLOCK_BITSLICE_THREADS
#endif

// Registers a thread. Where table thread blocks and half thread blocks of the bitsliced form
// share a multiprocessor with 65,536 registers, one of each fits.
#define BLOCK_TABLE_REGISTERS 80u
// Of texts at any address, where round keys are loaded: their thread blocks share with no others,
// and those of XTS have no more threads than all.
#define BLOCK_LOADED_REGISTERS 96u
#define BLOCK_BITSLICE_REGISTERS 192u
// Of CBC encryption by warps: all that a thread block can have. With its tables and blocks no
// second thread block has room, for which a compiler that is not told so keeps registers and
// spills.
#define BLOCK_STAGE_REGISTERS 128u
