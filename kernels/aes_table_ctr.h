// CTR over the tables of aes_table.h, which includes this for each form.
//
// A lane steps through counters 256 apart, so that of its counter blocks only
// byte 14 changes until that byte wraps. Then one column alone changes in round
// 1, and a byte of each column in round 2: those two rounds take 5 look-ups a
// block instead of 32, and their constant part is computed once a window.
//
// SPDX-License-Identifier: Apache-2.0

#ifndef LC_KERNELS_AES_TABLE_CTR_COMMON
#define LC_KERNELS_AES_TABLE_CTR_COMMON

// What does not change while byte 14 of the counter does.
typedef struct AesCounterRun {
  u32 step;      // byte 14 of the next counter block
  u32 key;       // byte 14 of the first round key
  u32 column1;   // round 1: column 1 less its part of byte 14
  u32 state[4];  // round 2: the columns less their bytes of column 1
} AesCounterRun;

#endif

FN AesCounterRun AES_NAME(begin_run)(Block counter, SHARED const u32 *tables,
                                     GLOBAL const u32 *schedule) {
  const u32 copy = AES_COPY;
  const Block k0 = aes_round_key(schedule, 0);
  const Block k1 = aes_round_key(schedule, 1);
  const Block k2 = aes_round_key(schedule, 2);
  const Block s = aes_xor(counter, k0);
  const u32 r0 = AES_COLUMN(s.w[0], s.w[1], s.w[2], s.w[3], k1.w[0]);
  const u32 r2 = AES_COLUMN(s.w[2], s.w[3], s.w[0], s.w[1], k1.w[2]);
  const u32 r3 = AES_COLUMN(s.w[3], s.w[0], s.w[1], s.w[2], k1.w[3]);
  AesCounterRun run;
  run.step = BYTE_OF(counter.w[3], 2);
  run.key = BYTE_OF(k0.w[3], 2);
  run.column1 = AES_LOOK0(s.w[1], 0) ^ AES_LOOK1(s.w[2], 1) ^ AES_LOOK3(s.w[0], 3) ^ k1.w[1];
  run.state[0] = AES_LOOK0(r0, 0) ^ AES_LOOK2(r2, 2) ^ AES_LOOK3(r3, 3) ^ k2.w[0];
  run.state[1] = AES_LOOK1(r2, 1) ^ AES_LOOK2(r3, 2) ^ AES_LOOK3(r0, 3) ^ k2.w[1];
  run.state[2] = AES_LOOK0(r2, 0) ^ AES_LOOK1(r3, 1) ^ AES_LOOK2(r0, 2) ^ k2.w[2];
  run.state[3] = AES_LOOK0(r3, 0) ^ AES_LOOK1(r0, 1) ^ AES_LOOK3(r2, 3) ^ k2.w[3];
  return run;
}

// The state after round 2 of the run's counter block whose byte 14 is `step`.
FN Block AES_NAME(in_run)(const AesCounterRun *run, u32 step, SHARED const u32 *tables) {
  const u32 copy = AES_COPY;
  const u32 changed = step ^ run->key;
  const u32 r1 = run->column1 ^ AES_LOOK2(changed, 0);
  Block s;
  s.w[0] = run->state[0] ^ AES_LOOK1(r1, 1);
  s.w[1] = run->state[1] ^ AES_LOOK0(r1, 0);
  s.w[2] = run->state[2] ^ AES_LOOK3(r1, 3);
  s.w[3] = run->state[3] ^ AES_LOOK2(r1, 2);
  return s;
}

KERNEL(AES_NAME(ctr), AES_LANES)
(GLOBAL const AesPiece *pieces, u32 count, u64 tiles, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, u32 steps SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  AES_NAME(fill)(tables, 0);
  const u32 teams = group_count() * (group_lanes() / TEAM_LANES);
  u32 p = 0;
  // Teams side by side take the tiles of one window, whose memory is one.
  for (u64 tile = aes_team(); tile < tiles; tile += teams) {
    if (p + 1 < count && pieces[p + 1].first_tile <= tile)
      p += aes_find_piece(pieces + p, count - p, tile);
    GLOBAL const AesPiece *piece = pieces + p;
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * AES_SCHEDULE_WORDS;
    const u32 aligned = aes_aligned(in, out);
    const u64 length = piece->length;
    const Block iv = aes_iv(piece);
    const u64 in_piece = tile - piece->first_tile;
    const u64 first = in_piece / AES_WINDOW_TILES * (256 * steps) +
                      in_piece % AES_WINDOW_TILES * TEAM_LANES + lane_id() % TEAM_LANES;

    AesCounterRun run = AES_NAME(begin_run)(aes_counter(iv, first), tables, schedule);
    for (u32 step = 0; step < steps; step += AES_TABLE_BLOCKS) {
      const u64 number = first + step * 256;
      if (16 * number >= length) break;
      Block blocks[AES_TABLE_BLOCKS];
      u32 from = 3;
      if (run.step <= 256 - AES_TABLE_BLOCKS) {
        UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
          blocks[n] = AES_NAME(in_run)(&run, run.step + n, tables);
        }
        run.step += AES_TABLE_BLOCKS;
      } else {  // byte 14 wraps: the bytes before it change
        const Block key = aes_round_key(schedule, 0);
        UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
          blocks[n] = aes_xor(aes_counter(iv, number + n * 256), key);
        }
        from = 1;
        run =
            AES_NAME(begin_run)(aes_counter(iv, number + AES_TABLE_BLOCKS * 256), tables, schedule);
      }
      AES_NAME(encrypt_from)(blocks, AES_TABLE_BLOCKS, from, tables, schedule, rounds);
      const u32 whole = aligned && 16 * (number + (AES_TABLE_BLOCKS - 1) * 256 + 1) <= length;
      UNROLL for (u32 n = 0; n < AES_TABLE_BLOCKS; ++n) {
        const u64 at = 16 * (number + n * 256);
        if (whole)
          store_block(out + at, aes_xor(blocks[n], load_block(in + at)));
        else if (at < length)
          aes_store(out + at, aes_xor(blocks[n], aes_load(in + at, length - at, aligned)),
                    length - at, aligned);
      }
    }
  }
}
