// CFB, OFB and ciphertext stealing over the tables of aes_table.h, which
// includes this for each form.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aes/aes_streams.h"

// CFB encryption with segments of 128, 8 or 1 bits, and OFB (`segment` 0): a
// lane a stream. One whose stream ends takes its next at once, and does not
// wait for the others of its team. schedules: aes_expand_stream_keys's. chain: count
// of 4 words, the register of each stream so far.
KERNEL(AES_NAME(feedback), AES_CHAIN_LANES(AES_LANES))
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *schedules,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 0);
  u32 row = 0, p = aes_stream(0), begun = 0, aligned = 0, bit = 0, bits = 0;
  u64 at = 0, length = 0;
  GLOBAL const u8 *in = in_base;
  GLOBAL u8 *out = out_base;
  GLOBAL const u32 *schedule = schedules;
  GLOBAL u8 *link = (GLOBAL u8 *)chain;
  Block state = {{0, 0, 0, 0}};
  while (p < count) {
    if (!begun) {
      GLOBAL const AesPiece *piece = pieces + p;
      in = in_base + piece->in;
      out = out_base + piece->out;
      schedule = schedules + AES_STREAM_KEY_WORD(piece->key);
      link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
      aligned = aes_aligned(in, out);
      length = piece->length;
      state = piece->continues ? load_block(link) : aes_iv(piece);
      at = 0;
      begun = 1;
    }
    Block made = state;
    AES_NAME(encrypt_stream)(&made, 1, tables, schedule, rounds);
    if (segment == 0 || segment == 128) {
      const Block text = aes_xor(aes_load(in + at, length - at, aligned), made);
      aes_store(out + at, text, length - at, aligned);
      state = segment == 0 ? made : text;
      at += 16;
    } else if (segment == 8) {
      const u32 byte = in[at] ^ (made.w[0] & 0xff);
      out[at] = (u8)byte;
      state = aes_shift_in_byte(state, byte);
      at += 1;
    } else {
      const u32 one = ((in[at] >> (7 - bit)) ^ (made.w[0] >> 7)) & 1;
      state = aes_shift_in_bit(state, one);
      bits = bits << 1 | one;
      bit = (bit + 1) % 8;
      if (bit == 0) {
        out[at] = (u8)bits;
        at += 1;
      }
    }
    if (at >= length) {
      store_block(link, state);
      p = aes_stream(++row);
      begun = 0;
    }
  }
}

// Bits of CFB1 that a lane takes at a time; they make a byte.
#define AES_CFB1_BATCH 4

FN void AES_NAME(cfb1_byte)(GLOBAL const AesPiece *piece, u64 at, GLOBAL const u8 *in,
                            GLOBAL u8 *out, SHARED const u32 *tables, GLOBAL const u32 *schedule,
                            u32 rounds) {
  const u32 text = in[at];
  Block before =
      piece->continues ? aes_load_bytes(in + at - 16, 16) : aes_before(aes_iv(piece), in, at);
  u32 stream = 0;
  for (u32 batch = 0; batch < 8; batch += AES_CFB1_BATCH) {
    Block blocks[AES_CFB1_BATCH];
    UNROLL for (u32 n = 0; n < AES_CFB1_BATCH; ++n) {
      blocks[n] = before;
      before = aes_shift_in_bit(before, (text >> (7 - batch - n)) & 1);
    }
    AES_NAME(encrypt)(blocks, AES_CFB1_BATCH, tables, schedule, rounds);
    UNROLL for (u32 n = 0; n < AES_CFB1_BATCH; ++n) {
      stream = stream << 1 | ((blocks[n].w[0] >> 7) & 1);
    }
  }
  out[at] = (u8)(text ^ stream);
}

// Input and output must not share memory: a lane reads the 16 bytes before its
// own, which another lane may have written.
KERNEL(AES_NAME(cfb_decrypt), AES_LANES)
(GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 segment SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 0);
  const u32 each = segment == 128 ? 16 : 1;  // bytes that a lane takes with a block
  AES_WALK_TILES {
    AES_WALK_PIECE
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    const u32 aligned = segment == 128 && aes_aligned(in, out);
    const u64 length = piece->length;
    const u64 number = tile - piece->first_tile;
    if (segment == 1) {
      const u64 at = number * (AES_TABLE_CFB1_BYTES * TEAM_LANES) + lane_id() % TEAM_LANES;
      if (at < length) AES_NAME(cfb1_byte)(piece, at, in, out, tables, schedule, rounds);
      continue;
    }
    const u64 first = each * (number * (AES_TABLE_BLOCKS * TEAM_LANES) + lane_id() % TEAM_LANES);
    Block blocks[AES_TABLE_BLOCKS];
    UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
      const u64 at = first + n * each * TEAM_LANES;
      if (at >= length)
        blocks[n] = aes_iv(piece);
      else if (at >= 16 || piece->continues)
        blocks[n] = aes_load(in + at - 16, 16, aligned);
      else
        blocks[n] = aes_before(aes_iv(piece), in, at);
    }
    AES_NAME(encrypt)(blocks, AES_TABLE_BLOCKS, tables, schedule, rounds);
    UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
      const u64 at = first + n * each * TEAM_LANES;
      if (at < length) {
        const u64 bytes = segment == 128 ? length - at : 1;
        aes_store(out + at, aes_xor(blocks[n], aes_load(in + at, bytes, aligned)), bytes, aligned);
      }
    }
  }
}

// CBC with ciphertext stealing, after CBC itself has done the blocks before the
// last two: these, a lane a message. `chain` is what CBC encryption left.
#define AES_FOR_EACH_TAIL                                         \
  for (u32 p = group_id() * group_lanes() + lane_id(); p < count; \
       p += group_count() * group_lanes())

#define AES_TAIL                                             \
  GLOBAL const AesPiece *piece = pieces + p;                 \
  if (piece->tail_bytes == 0) continue;                      \
  GLOBAL const u8 *in = in_base + piece->in + piece->length; \
  GLOBAL u8 *out = out_base + piece->out + piece->length;    \
  const u32 part = piece->tail_bytes - 16;

KERNEL(AES_NAME(steal_encrypt), AES_CHAIN_LANES(AES_LANES))
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL const u32 *chain, GLOBAL const u32 *schedules,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 0);
  AES_FOR_EACH_TAIL {
    AES_TAIL
    GLOBAL const u32 *schedule = schedules + AES_STREAM_KEY_WORD(piece->key);
    const Block before = piece->length == 0 && !piece->continues
                             ? aes_iv(piece)
                             : load_block((GLOBAL const u8 *)(chain + (u64)piece->chain * 4));
    const Block last = aes_load_bytes(in + 16, part);
    Block y = aes_xor(before, aes_load_bytes(in, 16));
    AES_NAME(encrypt_stream)(&y, 1, tables, schedule, rounds);
    Block x = aes_xor(y, last);
    AES_NAME(encrypt_stream)(&x, 1, tables, schedule, rounds);
    aes_store_bytes(out + aes_stolen_x(piece), x, 16);
    aes_store_bytes(out + aes_stolen_y(piece), y, part);
  }
}

KERNEL(AES_NAME(steal_decrypt), AES_CHAIN_LANES(AES_LANES))
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 1);
  AES_FOR_EACH_TAIL {
    AES_TAIL
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    const Block before =
        piece->length == 0 && !piece->continues ? aes_iv(piece) : aes_load_bytes(in - 16, 16);
    Block x = aes_load_bytes(in + aes_stolen_x(piece), 16);
    const Block y = aes_load_bytes(in + aes_stolen_y(piece), part);
    AES_NAME(decrypt)(&x, 1, tables, schedule, rounds);
    Block first = aes_join(y, x, part);
    AES_NAME(decrypt)(&first, 1, tables, schedule, rounds);
    aes_store_bytes(out, aes_xor(first, before), 16);
    aes_store_bytes(out + 16, aes_xor(x, y), part);
  }
}

#undef AES_FOR_EACH_TAIL
#undef AES_TAIL
