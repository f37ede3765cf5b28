// CFB and OFB over tables; included by kernels.h for each form of a cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/stream_text.h"
#include "kernels/block/streams.h"

// CFB encryption with segments of 128, 8 or 1 bits, and OFB (`segment` 0): a
// lane a stream. One whose stream ends takes its next at once, and does not
// wait for the others of its team. schedules: as stream_keys of keys.h makes them. chain: count
// of 4 words, the register of each stream so far.
KERNEL(BLOCK_NAME(feedback), BLOCK_CHAIN_LANES(BLOCK_LANES))
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *schedules,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  u32 row = 0, p = block_stream(0), begun = 0, aligned = 0, bit = 0, bits = 0;
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
    if (segment == 0 || segment == 128) {
      const Block data =
          aligned ? load_part(in + at, length - at, 1) : stream_read(&unaligned, in, at, length);
      const Block text = block_xor(data, made);
      if (aligned)
        store_part(out + at, text, length - at, 1);
      else
        stream_write(&unaligned, out, text, at, length);
      state = segment == 0 ? made : text;
      at += 16;
    } else if (segment == 8) {
      const u32 byte = in[at] ^ (made.w[0] & 0xff);
      out[at] = (u8)byte;
      state = block_shift_in_byte(state, byte);
      at += 1;
    } else {
      const u32 one = ((in[at] >> (7 - bit)) ^ (made.w[0] >> 7)) & 1;
      state = block_shift_in_bit(state, one);
      bits = bits << 1 | one;
      bit = (bit + 1) % 8;
      if (bit == 0) {
        out[at] = (u8)bits;
        at += 1;
      }
    }
    if (at >= length) {
      store_block(link, state);
      p = block_stream(++row);
      begun = 0;
    }
  }
}

// Bits of CFB1 that a lane takes at a time; they make a byte.
#define BLOCK_CFB1_BATCH 4

FN void BLOCK_NAME(cfb1_byte)(GLOBAL const CipherPiece *piece, u64 at, GLOBAL const u8 *in,
                              GLOBAL u8 *out, SHARED const u32 *tables, GLOBAL const u32 *schedule,
                              u32 rounds) {
  const u32 text = in[at];
  Block before =
      piece->continues ? block_load_bytes(in + at - 16, 16) : block_before(block_iv(piece), in, at);
  u32 stream = 0;
  for (u32 batch = 0; batch < 8; batch += BLOCK_CFB1_BATCH) {
    Block blocks[BLOCK_CFB1_BATCH];
    UNROLL for (u32 n = 0; n < BLOCK_CFB1_BATCH; ++n) {
      blocks[n] = before;
      before = block_shift_in_bit(before, (text >> (7 - batch - n)) & 1);
    }
    BLOCK_NAME(encrypt)(blocks, BLOCK_CFB1_BATCH, tables, schedule, rounds);
    UNROLL for (u32 n = 0; n < BLOCK_CFB1_BATCH; ++n) {
      stream = stream << 1 | ((blocks[n].w[0] >> 7) & 1);
    }
  }
  out[at] = (u8)(text ^ stream);
}

// Input and output must not share memory: a lane reads the 16 bytes before its
// own, which another lane may have written.
KERNEL(BLOCK_NAME(cfb_decrypt), BLOCK_LANES)
(GLOBAL const CipherPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  const u32 each = segment == 128 ? 16 : 1;  // bytes that a lane takes with a block
  BLOCK_WALK_TILES {
    BLOCK_WALK_PIECE
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    const u32 aligned = segment == 128 && block_aligned(in, out);
    const u64 length = piece->length;
    const u64 number = tile - piece->first_tile;
    if (segment == 1) {
      const u64 at = number * (BLOCK_TABLE_CFB1_BYTES * TEAM_LANES) + lane_id() % TEAM_LANES;
      if (at < length) BLOCK_NAME(cfb1_byte)(piece, at, in, out, tables, schedule, rounds);
      continue;
    }
    const u64 first = each * (number * (BLOCK_TABLE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES);
    Block blocks[BLOCK_TABLE_BLOCKS];
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const u64 at = first + n * each * TEAM_LANES;
      if (at >= length)
        blocks[n] = block_iv(piece);
      else if (at >= 16 || piece->continues)
        blocks[n] = load_part(in + at - 16, 16, aligned);
      else
        blocks[n] = block_before(block_iv(piece), in, at);
    }
    BLOCK_NAME(encrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      const u64 at = first + n * each * TEAM_LANES;
      if (at < length) {
        const u64 bytes = segment == 128 ? length - at : 1;
        store_part(out + at, block_xor(blocks[n], load_part(in + at, bytes, aligned)), bytes,
                   aligned);
      }
    }
  }
}
