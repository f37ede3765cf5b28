// ECB and CBC over the tables of aes_table.h, which includes this for each form.
//
// SPDX-License-Identifier: Apache-2.0

#define AES_TILE_PARAMETERS                                                                      \
  (GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds, \
   GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER)

// The frame of ECB and CBC decryption: a lane takes blocks first, first +
// TEAM_LANES, ... of a tile. `whole` says that the tile has all its blocks and
// that they can be read 16 bytes at a time.
#define AES_FOR_EACH_TILE             \
  const u32 trips = aes_trips(tiles); \
  u32 p = 0;                          \
  ROLLED for (u32 trip = 0; trip < trips; ++trip)

#define AES_TILE_PIECE                                                                      \
  const u64 tile = (u64)trip * aes_teams() + aes_team();                                    \
  p = aes_next_piece(pieces, count, p, tile);                                               \
  GLOBAL const AesPiece *piece = pieces + p;                                                \
  GLOBAL const u8 *in = in_base + piece->in;                                                \
  GLOBAL u8 *out = out_base + piece->out;                                                   \
  GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;            \
  const u32 aligned = aes_aligned(in, out);                                                 \
  const u64 length = tile < tiles ? piece->length : 0;                                      \
  const u64 tile_start = (tile - piece->first_tile) * (AES_TABLE_BLOCKS * TEAM_LANES);      \
  const u32 whole = aligned && 16 * (tile_start + AES_TABLE_BLOCKS * TEAM_LANES) <= length; \
  const u64 first = tile_start + lane_id() % TEAM_LANES;                                    \
  Block blocks[AES_TABLE_BLOCKS];                                                           \
  aes_load_tile(blocks, in, first, length, aligned, whole);

KERNEL_OF(AES_NAME(ecb_encrypt), AES_LANES, AES_TABLE_REGISTERS) AES_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  AES_NAME(fill)(tables, 0);
  AES_FOR_EACH_TILE {
    AES_TILE_PIECE
    AES_NAME(encrypt)(blocks, AES_TABLE_BLOCKS, tables, schedule, rounds);
    aes_store_tile(out, blocks, first, length, aligned, whole);
  }
}

KERNEL_OF(AES_NAME(ecb_decrypt), AES_LANES, AES_TABLE_REGISTERS) AES_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  AES_NAME(fill)(tables, 1);
  AES_FOR_EACH_TILE {
    AES_TILE_PIECE
    AES_NAME(decrypt)(blocks, AES_TABLE_BLOCKS, tables, schedule, rounds);
    aes_store_tile(out, blocks, first, length, aligned, whole);
  }
}

// Input and output must not share memory: a lane reads the block before its
// own, which another lane may have written.
KERNEL_OF(AES_NAME(cbc_decrypt), AES_LANES, AES_TABLE_REGISTERS) AES_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  AES_NAME(fill)(tables, 1);
  AES_FOR_EACH_TILE {
    AES_TILE_PIECE
    AES_NAME(decrypt)(blocks, AES_TABLE_BLOCKS, tables, schedule, rounds);
    if (whole && tile_start != 0) {
      Block before[AES_TABLE_BLOCKS];
      aes_load_tile(before, in - 16, first, length, aligned, whole);
      UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) blocks[n] = aes_xor(blocks[n], before[n]);
    } else {
      UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
        const u64 number = first + n * TEAM_LANES;
        if (number == 0 && !piece->continues)
          blocks[n] = aes_xor(blocks[n], aes_iv(piece));
        else if (16 * number < length)
          blocks[n] = aes_xor(blocks[n], aes_load(in + 16 * number - 16, 16, aligned));
      }
    }
    aes_store_tile(out, blocks, first, length, aligned, whole);
  }
}

// A lane a stream. chain: count of 4 words, the last ciphertext block of each
// stream so far.
KERNEL(AES_NAME(cbc_encrypt), AES_LANES)
(GLOBAL const AesPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *schedules,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 0);
  for (u32 p = group_id() * group_lanes() + lane_id(); p < count;
       p += group_count() * group_lanes()) {
    GLOBAL const AesPiece *piece = pieces + p;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    GLOBAL u8 *link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
    const u32 aligned = aes_aligned(in, out);
    const u64 length = piece->length;
    Block state = piece->continues ? load_block(link) : aes_iv(piece);
    for (u64 at = 0; at < length; at += 16) {
      state = aes_xor(state, aes_load(in + at, 16, aligned));
      AES_NAME(encrypt)(&state, 1, tables, schedule, rounds);
      aes_store(out + at, state, 16, aligned);
    }
    store_block(link, state);
  }
}
