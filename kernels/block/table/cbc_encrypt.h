// CBC encryption over tables; included by kernels.h for each form of a cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/stream_text.h"
#include "kernels/block/streams.h"

// A lane a stream, in turns that all lanes of a group begin together. schedules: as stream_keys of
// keys.h makes them. chain: count of 4 words, the last ciphertext block of each stream so far.
#define BLOCK_CHAIN_PARAMETERS                                                                  \
  (GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *schedules, \
   u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER)

#if BLOCK_TABLES == 4 && defined(HAS_TEAM_BARRIER)

// Blocks of different streams lie far apart, and each alone would be half a
// sector of memory, and a cycle of the load unit. So a team reads and writes
// four blocks of a stream side by side, four lanes a stream, and hands them to
// and from the stream's lane through local memory.
//
// Where a text lies at no multiple of 16, these are the blocks of memory, each of which has the end
// of one block of the text and the beginning of the next. The stream's lane joins them. It has read
// the first one itself, of which the others read none; and it writes the bytes at both ends of the
// output, whose blocks of memory have others' bytes too.
#ifndef LC_KERNELS_BLOCK_STAGE
#define LC_KERNELS_BLOCK_STAGE
#define BLOCK_STAGE_BLOCKS 4u

// Where block b of the team's stream s is: in other banks than what is read
// with it, by its own lane and by the four.
FN SHARED u8 *block_stage(SHARED u32 *tables, u32 s, u32 b) {
  SHARED u8 *team =
      (SHARED u8 *)(tables + BLOCK_TABLE4_LOCAL_WORDS + lane_id() / TEAM_LANES * (16 * TEAM_LANES));
  return team + 16 * (BLOCK_STAGE_BLOCKS * s + (b ^ ((s >> 1) & 3)));
}

// How many bytes behind a multiple of 16 an address lies. Where texts do not lie at any address,
// `anywhere` 0, the compiler knows it.
FN u32 block_stage_skew(GLOBAL const u8 *at, u32 anywhere) {
  return anywhere ? (u32)(u64)at & 15 : 0;
}
#endif

// `anywhere`: a constant, 0 where all texts lie at multiples of 16.
FN void BLOCK_NAME(cbc_encrypt_staged)(GLOBAL const CipherPiece *pieces, u32 count,
                                       GLOBAL u32 *chain, GLOBAL const u32 *schedules, u32 rounds,
                                       GLOBAL const u8 *in_base, GLOBAL u8 *out_base,
                                       SHARED u32 *tables, u32 anywhere) {
  const u32 lane = lane_id() % TEAM_LANES;
  const u32 turn = block_stream(0);
  ROLLED for (u32 begin = 0; begin < count; begin += group_count() * group_lanes()) {
    const u32 own = begin + turn;
    GLOBAL const CipherPiece *piece = pieces + (own < count ? own : begin);
    GLOBAL const u32 *schedule = schedules + BLOCK_STREAM_KEY_WORD(piece->key);
    GLOBAL u8 *link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
    GLOBAL u8 *own_out = out_base + piece->out;
    const u64 length = own < count ? piece->length : 0;
    // A lane without a piece has another's, whose link is written meanwhile.
    Block state = own < count && piece->continues ? load_block(link) : block_iv(piece);
    const u32 in_skew = block_stage_skew(in_base + piece->in, anywhere);
    const u32 out_skew = block_stage_skew(own_out, anywhere);
    // The block of memory in which the text begins, unless it begins with the next one.
    Block before = state;
    if (in_skew != 0 && length != 0) before = load_block(in_base + piece->in - in_skew);
    // What this lane reads and writes for the team: from the first multiple of 16 in the input, and
    // from the last one that is not behind the output's beginning.
    GLOBAL const u8 *in[BLOCK_STAGE_BLOCKS];
    GLOBAL u8 *out[BLOCK_STAGE_BLOCKS];
    u64 end[BLOCK_STAGE_BLOCKS];
    Block next[BLOCK_STAGE_BLOCKS];
    UNROLL for (u32 i = 0; i < BLOCK_STAGE_BLOCKS; ++i) {
      const u32 unit = i * TEAM_LANES + lane;
      const u32 stream = own - lane + unit / BLOCK_STAGE_BLOCKS;
      GLOBAL const CipherPiece *other = pieces + (stream < count ? stream : begin);
      const u32 at = 16 * (unit % BLOCK_STAGE_BLOCKS);
      in[i] = in_base + other->in + at;
      in[i] += (16 - block_stage_skew(in[i], anywhere)) % 16;
      out[i] = out_base + other->out + at;
      end[i] = stream < count && other->length > at ? other->length - at : 0;
      next[i] = state;
      if (end[i] != 0) next[i] = load_block(in[i]);
    }
    ROLLED for (u64 at = 0; LANES_ANY(at < length); at += 16 * BLOCK_STAGE_BLOCKS) {
      TEAM_BARRIER();
      UNROLL for (u32 i = 0; i < BLOCK_STAGE_BLOCKS; ++i) {
        const u32 unit = i * TEAM_LANES + lane;
        store_block(block_stage(tables, unit / BLOCK_STAGE_BLOCKS, unit % BLOCK_STAGE_BLOCKS),
                    next[i]);
        // The next are under way while these are encrypted.
        const u64 later = at + 16 * BLOCK_STAGE_BLOCKS;
        if (later < end[i]) next[i] = load_block(in[i] + later);
      }
      TEAM_BARRIER();
      ROLLED for (u32 n = 0; n < BLOCK_STAGE_BLOCKS; ++n) {
        SHARED u8 *place = block_stage(tables, lane, n);
        Block text = load_block(place);
        if (anywhere) {
          const Block second = text;
          text = stream_join(before, second, in_skew == 0 ? 16 : in_skew);
          before = second;
        }
        Block block = block_xor(state, text);
        BLOCK_NAME(encrypt_stream)(&block, 1, tables, schedule, rounds);
        store_block(place, anywhere ? stream_join(state, block, 16 - out_skew) : block);
        if (at + 16 * n < length) state = block;
      }
      if (at == 0 && out_skew != 0 && length != 0)
        block_store_range(own_out - out_skew, load_block(block_stage(tables, lane, 0)), out_skew,
                          16);
      TEAM_BARRIER();
      // All of them first, or each would wait by itself.
      Block made[BLOCK_STAGE_BLOCKS];
      UNROLL for (u32 i = 0; i < BLOCK_STAGE_BLOCKS; ++i) {
        const u32 unit = i * TEAM_LANES + lane;
        made[i] =
            load_block(block_stage(tables, unit / BLOCK_STAGE_BLOCKS, unit % BLOCK_STAGE_BLOCKS));
      }
      UNROLL for (u32 i = 0; i < BLOCK_STAGE_BLOCKS; ++i) {
        const u32 b = (i * TEAM_LANES + lane) % BLOCK_STAGE_BLOCKS;
        const u32 skew = block_stage_skew(out[i], anywhere);
        if (at < end[i] && (at != 0 || b != 0 || skew == 0))
          store_block(out[i] + at - skew, made[i]);
      }
    }
    if (out_skew != 0 && length != 0)
      block_store_range(own_out + length - out_skew, stream_join(state, state, 16 - out_skew), 0,
                        out_skew);
    if (own < count) store_block(link, state);
  }
}

KERNEL_OF(BLOCK_NAME(cbc_encrypt), BLOCK_CHAIN_LANES(BLOCK_LANES), BLOCK_STAGE_REGISTERS)
BLOCK_CHAIN_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
#ifdef BLOCK_ACROSS
  const u32 anywhere = 0;
#else
  const u32 anywhere = 1;
#endif
  BLOCK_NAME(cbc_encrypt_staged)
  (pieces, count, chain, schedules, rounds, in_base, out_base, tables, anywhere);
}

#ifdef BLOCK_ACROSS
KERNEL_OF(BLOCK_NAME(cbc_encrypt_across), BLOCK_CHAIN_LANES(BLOCK_LANES), BLOCK_STAGE_REGISTERS)
BLOCK_CHAIN_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_NAME(cbc_encrypt_staged)
  (pieces, count, chain, schedules, rounds, in_base, out_base, tables, 1);
}
#endif

#else

KERNEL(BLOCK_NAME(cbc_encrypt), BLOCK_CHAIN_LANES(BLOCK_LANES)) BLOCK_CHAIN_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  const u32 turn = block_stream(0);
  ROLLED for (u32 begin = 0; begin < count; begin += group_count() * group_lanes()) {
    const u32 own = begin + turn;
    GLOBAL const CipherPiece *piece = pieces + (own < count ? own : begin);
    GLOBAL const u8 *in = in_base + piece->in;
    GLOBAL u8 *out = out_base + piece->out;
    GLOBAL const u32 *schedule = schedules + BLOCK_STREAM_KEY_WORD(piece->key);
    GLOBAL u8 *link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
    const u32 aligned = block_aligned(in, out);
    const u64 length = own < count ? piece->length : 0;
    // A lane without a piece has another's, whose link is written meanwhile.
    Block state = own < count && piece->continues ? load_block(link) : block_iv(piece);
    Block next = state;
    StreamText unaligned = {state, state};
    if (length != 0) {
      if (!aligned) unaligned = stream_begin(in);
      next = aligned ? load_block(in) : stream_read(&unaligned, in, 0, length);
    }
    ROLLED for (u64 at = 0; LANES_ANY(at < length); at += 16) {
      // The next block is under way while this one is encrypted.
      Block block = block_xor(state, next);
      if (at + 16 < length)
        next = aligned ? load_block(in + at + 16) : stream_read(&unaligned, in, at + 16, length);
      BLOCK_NAME(encrypt_stream)(&block, 1, tables, schedule, rounds);
      if (at < length) {
        state = block;
        if (aligned)
          store_block(out + at, state);
        else
          stream_write(&unaligned, out, state, at, length);
      }
    }
    if (own < count) store_block(link, state);
  }
}

#endif

#undef BLOCK_CHAIN_PARAMETERS
