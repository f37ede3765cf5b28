// AES (FIPS 197) by compute shaders: the kernels of kernels/aes/aes_key.h and of the one-table form
// of kernels/aes/aes_table.inc, with the same names and parameters, in a language without pointers
// and 64-bit numbers. The arithmetic on words comes from kernels/ itself. compute_kernels.cpp
// prepends the layout of CipherPiece and these:
//   LC_EXPAND_KEYS, LC_ECB_ENCRYPT, ...  1 for the kernel that is compiled, otherwise 0
//   LC_THREADS                           threads per thread block
//
// One launch is split into several dispatches, for drivers that stop a shader after some time or,
// like llvmpipe, any loop after 65,535 iterations: each processes tiles `first_tile` to `end_tile`
// or, of each chain, bytes `first_byte` to `end_byte`.
//
// A buffer has less than 2^32 bytes, so the upper halves of a piece's 64-bit numbers are zero.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aes/aes_word.h"

layout(local_size_x = LC_THREADS) in;

#define thread_id() (gl_LocalInvocationID.x)
#define thread_block_id() (gl_WorkGroupID.x)
#define thread_block_count() (gl_NumWorkGroups.x)

#if LC_EXPAND_KEYS

layout(std430, binding = 0) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 1) writeonly buffer Schedules { uint schedules[]; };
layout(location = 0) uniform uint count;
layout(location = 1) uniform uint key_words;
layout(location = 2) uniform uint inverse;

// KeyExpansion and KeyExpansionEIC (FIPS 197, 5.2 and 5.3.5), as in kernels/aes/aes_key.h.
void main() {
  uint rounds = key_words + 6u;
  for (uint k = thread_block_id() * uint(LC_THREADS) + thread_id(); k < count;
       k += thread_block_count() * uint(LC_THREADS)) {
    uint key = k * BLOCK_KEY_WORDS, schedule = k * AES_SCHEDULE_WORDS;
    uint recent[8];
    for (uint i = 0u; i < 8u; ++i) recent[i] = i < key_words ? keys[key + i] : 0u;
    uint round_constant = 1u;
    uint at = 0u;
    for (uint i = 0u; i < 4u * (rounds + 1u); ++i) {
      uint word = recent[at];
      if (i >= key_words) {
        uint last = recent[at == 0u ? key_words - 1u : at - 1u];
        if (at == 0u) {
          last = aes_sub_word(ROTATE_LEFT(last, 24)) ^ round_constant;
          round_constant = aes_times_x(round_constant);
        } else if (key_words == 8u && at == 4u) {
          last = aes_sub_word(last);
        }
        word ^= last;
        recent[at] = word;
      }
      at = at + 1u == key_words ? 0u : at + 1u;
      uint round = i / 4u;
      if (k >= inverse) {
        schedules[schedule + i] = word;
      } else {
        bool outer = round == 0u || round == rounds;
        schedules[schedule + 4u * (rounds - round) + i % 4u] =
            outer ? word : aes_inverse_mix_column(word);
      }
    }
  }
}

#else

#define WARP_THREADS 32u
#define INVERSE (LC_ECB_DECRYPT || LC_CBC_DECRYPT)

layout(std430, binding = 0) readonly buffer Pieces { uint pieces[]; };
#if LC_CBC_ENCRYPT
layout(std430, binding = 1) buffer Chain { uvec4 chain[]; };
layout(std430, binding = 2) readonly buffer Schedules { uvec4 schedules[]; };
layout(std430, binding = 3) readonly buffer In { uvec4 in_blocks[]; };
layout(std430, binding = 4) buffer Out { uvec4 out_blocks[]; };
layout(location = 0) uniform uint count;
layout(location = 1) uniform uint rounds;
layout(location = 2) uniform uint first_byte;
layout(location = 3) uniform uint end_byte;
#else
layout(std430, binding = 1) readonly buffer Schedules { uvec4 schedules[]; };
layout(std430, binding = 2) readonly buffer In { uvec4 in_blocks[]; };
layout(std430, binding = 3) buffer Out { uvec4 out_blocks[]; };
layout(location = 0) uniform uint count;
layout(location = 1) uniform uint first_tile;
layout(location = 2) uniform uint end_tile;
layout(location = 3) uniform uint rounds;
#if LC_CTR
layout(location = 4) uniform uint rows;
#endif
#endif

#include "tables.glsl"

#include "bytes.glsl"

// ---- Pieces and tiles, as in kernels/block/tiles.h ----------------------------

struct Piece {
  uint from, to, length, first_tile, schedule, chain;
  bool continues, aligned;
  uvec4 iv;
};

Piece load_piece(uint p) {
  uint at = p * PIECE_WORDS;
  Piece piece;
  piece.from = pieces[at + PIECE_IN];
  piece.to = pieces[at + PIECE_OUT];
  piece.length = pieces[at + PIECE_LENGTH];
  piece.first_tile = pieces[at + PIECE_FIRST_TILE];
  piece.schedule = pieces[at + PIECE_KEY] * (AES_SCHEDULE_WORDS / 4u);
  piece.chain = pieces[at + PIECE_CHAIN];
  piece.continues = pieces[at + PIECE_CONTINUES] != 0u;
  piece.iv = uvec4(pieces[at + PIECE_IV], pieces[at + PIECE_IV + 1u], pieces[at + PIECE_IV + 2u],
                   pieces[at + PIECE_IV + 3u]);
  piece.aligned = ((piece.from | piece.to) & 15u) == 0u;
  return piece;
}

uint find_piece(uint low, uint tile) {
  uint high = count;
  while (high - low > 1u) {
    uint middle = low + (high - low) / 2u;
    if (pieces[middle * PIECE_WORDS + PIECE_FIRST_TILE] <= tile)
      low = middle;
    else
      high = middle;
  }
  return low;
}

uint warp_number() { return (thread_block_id() * uint(LC_THREADS) + thread_id()) / WARP_THREADS; }
uint warp_count() { return thread_block_count() * (uint(LC_THREADS) / WARP_THREADS); }

#if LC_CTR

// Returns the counter block `number` blocks after `first`: big-endian addition (SP 800-38A, B.1).
uvec4 counter_block(uvec4 first, uint number) {
  uint w3 = SWAP_BYTES(first.w) + number;
  uint carry = w3 < number ? 1u : 0u;
  uint w2 = SWAP_BYTES(first.z) + carry;
  carry = carry != 0u && w2 == 0u ? 1u : 0u;
  uint w1 = SWAP_BYTES(first.y) + carry;
  carry = carry != 0u && w1 == 0u ? 1u : 0u;
  uint w0 = SWAP_BYTES(first.x) + carry;
  return uvec4(SWAP_BYTES(w0), SWAP_BYTES(w1), SWAP_BYTES(w2), SWAP_BYTES(w3));
}

#include "counter_window.glsl"

// CTR (SP 800-38A, 6.5), as in kernels/block/table/ctr.inc.
void main() {
  fill_tables(thread_id());
  uint p = 0u, window_size = 256u * rows;
  for (uint tile = first_tile + warp_number(); tile < end_tile; tile += warp_count()) {
    if (p + 1u < count && pieces[(p + 1u) * PIECE_WORDS + PIECE_FIRST_TILE] <= tile)
      p = find_piece(p, tile);
    Piece piece = load_piece(p);
    uint skew = (BYTE_OF(piece.iv.w, 2) << 8 | BYTE_OF(piece.iv.w, 3)) & (window_size - 1u);
    uvec4 start = piece.iv;
    start.w ^= SWAP_BYTES(skew);
    uint tile_columns = 4u * WARP_THREADS;
    uint in_piece = tile - piece.first_tile + (rows == 1u ? skew / tile_columns : 0u);
    uint window_number = in_piece / (256u / tile_columns) * window_size;
    uint column = in_piece % (256u / tile_columns) * tile_columns + thread_id() % WARP_THREADS;
    Window window = begin_window(counter_block(start, window_number), column, piece.schedule);

    // The number of the thread's first block in the piece. A negative number wraps to a very large
    // one.
    uint number = window_number + column - skew, blocks_here = (piece.length + 15u) / 16u;
    uint first = number - thread_id() % WARP_THREADS;
    bool whole = piece.aligned && first < blocks_here &&
                 first + (rows - 1u) * 256u + tile_columns <= piece.length / 16u;
    for (uint row = 0u; row < rows; ++row) {
      uvec4 blocks[4], part = of_row(window, row);
      for (uint n = 0u; n < 4u; ++n) blocks[n] = window.columns[n] ^ part;
      encrypt_from(blocks, 3u, piece.schedule);
      for (uint n = 0u; n < 4u; ++n) {
        uint at = number + n * WARP_THREADS;
        if (whole)
          out_blocks[piece.to / 16u + at] = blocks[n] ^ in_blocks[piece.from / 16u + at];
        else if (at < blocks_here)
          store_bytes(piece.to + 16u * at, blocks[n] ^ load_bytes(piece.from + 16u * at),
                      min(piece.length - 16u * at, 16u));
      }
      number += 256u;
    }
  }
}

#elif LC_CBC_ENCRYPT

// CBC encryption (SP 800-38A, 6.2).
void main() {
  fill_tables(thread_id());
  for (uint p = thread_block_id() * uint(LC_THREADS) + thread_id(); p < count;
       p += thread_block_count() * uint(LC_THREADS)) {
    Piece piece = load_piece(p);
    if (first_byte >= piece.length) break;  // the pieces are sorted, the longest first
    uvec4 state = piece.continues || first_byte != 0u ? chain[piece.chain] : piece.iv;
    uint end = min(piece.length, end_byte);
    for (uint at = first_byte; at < end; at += 16u) {
      state = encrypt_one(state ^ load_bytes(piece.from + at), piece.schedule);
      store_bytes(piece.to + at, state, 16u);
    }
    chain[piece.chain] = state;
  }
}

#else  // ECB, CBC decryption

void main() {
  fill_tables(thread_id());
  uint tiles = end_tile - first_tile;
  uint warp = warp_number(), each = tiles / warp_count(), rest = tiles % warp_count();
  uint tile = first_tile + warp * each + min(warp, rest);
  uint end = tile + each + (warp < rest ? 1u : 0u);
  uint p = tile < end ? find_piece(0u, tile) : 0u;
  for (; tile < end; ++tile) {
    while (p + 1u < count && pieces[(p + 1u) * PIECE_WORDS + PIECE_FIRST_TILE] <= tile) ++p;
    Piece piece = load_piece(p);
    uint start = (tile - piece.first_tile) * 4u * WARP_THREADS;
    uint first = start + thread_id() % WARP_THREADS;
    bool whole = piece.aligned && start + 4u * WARP_THREADS <= piece.length / 16u;
    uvec4 blocks[4], before[4];
    for (uint n = 0u; n < 4u; ++n) {
      uint number = first + n * WARP_THREADS;
      blocks[n] = uvec4(0u);
      if (whole)
        blocks[n] = in_blocks[piece.from / 16u + number];
      else if (16u * number < piece.length)
        blocks[n] = load_bytes(piece.from + 16u * number);
#if LC_CBC_DECRYPT
      before[n] = uvec4(0u);
      if (number == 0u && !piece.continues)
        before[n] = piece.iv;
      else if (16u * number < piece.length)
        before[n] = load_bytes(piece.from + 16u * number - 16u);
#endif
    }
#if INVERSE
    decrypt(blocks, piece.schedule);
#else
    for (uint n = 0u; n < 4u; ++n) blocks[n] ^= schedules[piece.schedule];
    encrypt_from(blocks, 1u, piece.schedule);
#endif
    for (uint n = 0u; n < 4u; ++n) {
      uint number = first + n * WARP_THREADS;
#if LC_CBC_DECRYPT
      blocks[n] ^= before[n];
#endif
      if (whole)
        out_blocks[piece.to / 16u + number] = blocks[n];
      else if (16u * number < piece.length)
        store_bytes(piece.to + 16u * number, blocks[n], 16u);
    }
  }
}

#endif

#endif
