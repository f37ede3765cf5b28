// What host and device share for ciphers with 16-byte blocks: the structures that the host passes
// to kernels, and the shape of each launch. ciphers.h has what differs between ciphers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// CipherPiece is a range of bytes of one message under one key; a launch processes a list of
// pieces. `in` and `out` are offsets from the launch's base pointers. `iv` belongs to the first
// block of the piece: it is the counter block of CTR, or the previous ciphertext block of CBC. A
// piece is cut into tiles, the work that a warp takes at a time; tiles are numbered through all
// pieces of the launch.
typedef struct CipherPiece {
  u64 in;
  u64 out;
  u64 length;      // in bytes; the mode may restrict it
  u64 first_tile;  // tiles of all pieces before this one
  u32 key;         // index of the key schedule
  u32 chain;       // CBC encryption and other chained modes: index of this stream's chain value
  u32 continues;   // 1: instead of `iv`, takes the chain value (chained modes) or the 16 bytes
                   // before `in` (CBC and CFB decryption)
  // CBC with ciphertext stealing: `length` bytes of plain CBC are followed by 17 to 32 bytes, the
  // last two blocks (`swapped`: in exchanged order). `tail_bytes` is 0 if there is no such tail.
  u16 tail_bytes, swapped;
  u32 iv[4];  // 16 bytes as four little-endian words
  // XTS only, see xts_tweak.h.
  u64 slots;        // slots of all its data units
  u32 unit_bytes;   // bytes of a data unit; the last one may be shorter
  u32 first_point;  // points of all pieces before this one
} CipherPiece;

// Key layout. A raw key takes 8 words. Its schedule takes the cipher's BLOCK_SCHEDULE_WORDS, in
// order of use. A bitsliced schedule takes 32 words for each of those: word 32 * i + j holds bit j
// of word i, for 32 blocks.
#define BLOCK_KEY_WORDS 8u
// If each thread processes a stream, neighbouring threads read different keys. So the schedules of
// 32 keys are interleaved: round key r of all of them, 4 words each, is followed by round key r +
// 1. BLOCK_STREAM_KEY_STEP is the distance in words between the round keys of a key, and
// BLOCK_STREAM_KEY_WORD(key) the word at which a key's schedule begins.
#define BLOCK_STREAM_KEYS 32u
#define BLOCK_STREAM_KEY_STEP (4u * BLOCK_STREAM_KEYS)
#define BLOCK_STREAM_KEY_WORD(key)                                                 \
  ((u64)((key) / BLOCK_STREAM_KEYS) * (BLOCK_STREAM_KEYS * BLOCK_SCHEDULE_WORDS) + \
   (key) % BLOCK_STREAM_KEYS * 4)

// XTS_STRETCH is the number of slots from one point to the next. XTS_SPARE_POINTS is the number of
// points after the last that a thread may read, if its last tile ends after the last unit.
#define XTS_STRETCH 4096u
#define XTS_SPARE_POINTS 2048u

// The blocks that one thread processes at a time. A tile has WARP_THREADS times as many.
#define BLOCK_TABLE_BLOCKS 4u
#define BLOCK_BITSLICE_BLOCKS 32u

// Tiles of CTR have another shape. They lie in windows of 256 * rows counters: within a window, the
// counters of a thread keep byte 15 (their column) and only byte 14 (their row) changes. So a
// window begins where the low bits of the counter are zero, and a piece's first window may contain
// counters before the piece's first.
//
// A tile of the table forms is BLOCK_TABLE_BLOCKS * WARP_THREADS columns of `rows` rows, up to
// BLOCK_MOST_ROWS. More rows share more work; fewer rows occupy more threads. With one row, a
// piece's tiles begin with the tile of its first counter.
//
// A tile of the bitsliced form is WARP_THREADS columns of `rows` rows, a multiple of 32. With rows
// 0, for small pieces, there are no windows and tiles are as in ECB.
#define BLOCK_COLUMN_TILES (256u / (BLOCK_TABLE_BLOCKS * WARP_THREADS))
#define BLOCK_BITSLICE_COLUMN_TILES (256u / WARP_THREADS)
#define BLOCK_MOST_ROWS 32u
#define BLOCK_BITSLICE_ROWS 64u
#define BLOCK_BITSLICE_FEW_ROWS 32u

// Threads per thread block, and words of shared memory, of each form.
#define BLOCK_TABLE4_THREADS 512u
#define BLOCK_TABLE4_SHARED_WORDS 32768u  // four tables, 32 copies
// XTS runs alone on its multiprocessor. It uses as many threads of 80 registers as fit in 65,536
// registers; more threads hide more latency.
#define BLOCK_TABLE4_XTS_THREADS 768u
// CBC encryption: the tables, and four blocks of each thread's stream.
#define BLOCK_TABLE4_CHAIN_WORDS (BLOCK_TABLE4_SHARED_WORDS + 16 * BLOCK_TABLE4_THREADS)
#define BLOCK_TABLE1_THREADS 512u
#define BLOCK_TABLE1_SHARED_WORDS 8192u  // one table, 32 copies
#define BLOCK_BITSLICE_THREADS 256u
#define BLOCK_KEY_THREADS 128u
// Threads per thread block of the kernels in which a thread processes one stream, or 32. If the
// device cannot choose smaller thread blocks at launch, LC_CHAIN_THREADS makes them smaller for all
// launches (see device::Properties::chain_thread_block_size).
#ifdef LC_CHAIN_THREADS
#define BLOCK_CHAIN_THREADS(threads) LC_CHAIN_THREADS
#define BLOCK_BITSLICE_CHAIN_THREADS WARP_THREADS
#else
#define BLOCK_CHAIN_THREADS(threads) threads
#define BLOCK_BITSLICE_CHAIN_THREADS BLOCK_BITSLICE_THREADS
#endif

// Registers per thread. One thread block of the table forms and half a thread block of the
// bitsliced form fit together into a multiprocessor with 65,536 registers.
#define BLOCK_TABLE_REGISTERS 80u
// Kernels for unaligned texts that load round keys: their thread blocks share the multiprocessor
// with no others, and for XTS they have no more threads than the other modes.
#define BLOCK_LOADED_REGISTERS 96u
#define BLOCK_BITSLICE_REGISTERS 192u
// CBC encryption by warps: all registers that a thread block can have. Its tables and staged blocks
// leave no shared memory for a second thread block. Without this limit the compiler reserves
// registers for one and spills.
#define BLOCK_STAGE_REGISTERS 128u
