// CFB and OFB over tables; included by kernels.h for each form of a cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/stream_text.h"
#include "kernels/block/streams.h"

// CFB encryption with segments of 128 bits (SP 800-38A, 6.3) or, if `is_ofb`, OFB (6.4): a
// lane a stream. One whose stream ends takes its next at once, and does not
// wait for the others of its team. schedules: as stream_keys of keys.h makes them. chain: count
// of 4 words, the register of each stream so far.
KERNEL(BLOCK_NAME(feedback), BLOCK_CHAIN_LANES(BLOCK_LANES))
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *schedules,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 is_ofb SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  u32 row = 0, p = block_stream(0), begun = 0, aligned = 0;
  u64 at = 0, length = 0;
  GLOBAL const u8 *in = in_base;
  GLOBAL u8 *out = out_base;
  GLOBAL const u32 *schedule = schedules;
  GLOBAL u8 *link = (GLOBAL u8 *)chain;
  Block state = {{0, 0, 0, 0}};
  StreamText unaligned = {state, state};
  while (p < count) {
    if (!begun) {
      GLOBAL const CipherPiece *piece = pieces + p;
      in = in_base + piece->in;
      out = out_base + piece->out;
      schedule = schedules + BLOCK_STREAM_KEY_WORD(piece->key);
      link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
      aligned = block_aligned(in, out);
      length = piece->length;
      state = piece->continues ? load_block(link) : block_iv(piece);
      if (!aligned) unaligned = stream_begin(in);
      at = 0;
      begun = 1;
    }
    Block made = state;
    BLOCK_NAME(encrypt_stream)(&made, 1, tables, schedule, rounds);
    const Block data =
        aligned ? load_part(in + at, length - at, 1) : stream_read(&unaligned, in, at, length);
    const Block text = block_xor(data, made);
    if (aligned)
      store_part(out + at, text, length - at, 1);
    else
      stream_write(&unaligned, out, text, at, length);
    state = is_ofb ? made : text;
    at += 16;
    if (at >= length) {
      store_block(link, state);
      p = block_stream(++row);
      begun = 0;
    }
  }
}

// Input and output must not share memory: a lane reads the 16 bytes before its
// own, which another lane may have written.
KERNEL(BLOCK_NAME(cfb_decrypt), BLOCK_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_WALK_TILES {
    BLOCK_WALK_PIECE
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    const u32 aligned = block_aligned(in, out);
    const u64 length = piece->length;
    const u64 first = 16 * ((tile - piece->first_tile) * (BLOCK_TABLE_BLOCKS * TEAM_LANES) +
                            lane_id() % TEAM_LANES);
    Block blocks[BLOCK_TABLE_BLOCKS];
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const u64 at = first + 16 * n * TEAM_LANES;
      blocks[n] = at < length && (at != 0 || piece->continues)
                      ? load_part(in + at - 16, 16, aligned)
                      : block_iv(piece);
    }
    BLOCK_NAME(encrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const u64 at = first + 16 * n * TEAM_LANES;
      if (at < length)
        store_part(out + at, block_xor(blocks[n], load_part(in + at, length - at, aligned)),
                   length - at, aligned);
    }
  }
}
