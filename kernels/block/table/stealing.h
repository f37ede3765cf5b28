// Ciphertext stealing over tables; included by kernels.h for each form of a cipher that has it.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/streams.h"

// CBC with ciphertext stealing, after CBC itself has done the blocks before the
// last two: these, a lane a message. `chain` is what CBC encryption left.
#define BLOCK_FOR_EACH_TAIL                                       \
  for (u32 p = group_id() * group_lanes() + lane_id(); p < count; \
       p += group_count() * group_lanes())

#define BLOCK_TAIL                                           \
  GLOBAL const CipherPiece *piece = pieces + p;              \
  if (piece->tail_bytes == 0) continue;                      \
  GLOBAL const u8 *in = in_base + piece->in + piece->length; \
  GLOBAL u8 *out = out_base + piece->out + piece->length;    \
  const u32 part = piece->tail_bytes - 16;

KERNEL(BLOCK_NAME(steal_encrypt), BLOCK_CHAIN_LANES(BLOCK_LANES))
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL const u32 *chain, GLOBAL const u32 *schedules,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_FOR_EACH_TAIL {
    BLOCK_TAIL
    GLOBAL const u32 *schedule = schedules + BLOCK_STREAM_KEY_WORD(piece->key);
    const Block before = piece->length == 0 && !piece->continues
                             ? block_iv(piece)
                             : load_block((GLOBAL const u8 *)(chain + (u64)piece->chain * 4));
    const Block last = block_load_bytes(in + 16, part);
    Block y = block_xor(before, block_load_bytes(in, 16));
    BLOCK_NAME(encrypt_stream)(&y, 1, tables, schedule, rounds);
    Block x = block_xor(y, last);
    BLOCK_NAME(encrypt_stream)(&x, 1, tables, schedule, rounds);
    block_store_bytes(out + block_stolen_x(piece), x, 16);
    block_store_bytes(out + block_stolen_y(piece), y, part);
  }
}

KERNEL(BLOCK_NAME(steal_decrypt), BLOCK_CHAIN_LANES(BLOCK_LANES))
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL const u32 *schedules, u32 rounds,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_FOR_EACH_TAIL {
    BLOCK_TAIL
    GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS;
    const Block before =
        piece->length == 0 && !piece->continues ? block_iv(piece) : block_load_bytes(in - 16, 16);
    Block x = block_load_bytes(in + block_stolen_x(piece), 16);
    const Block y = block_load_bytes(in + block_stolen_y(piece), part);
    BLOCK_NAME(decrypt)(&x, 1, tables, schedule, rounds);
    Block first = block_join(y, x, part);
    BLOCK_NAME(decrypt)(&first, 1, tables, schedule, rounds);
    block_store_bytes(out, block_xor(first, before), 16);
    block_store_bytes(out + 16, block_xor(x, y), part);
  }
}

#undef BLOCK_FOR_EACH_TAIL
#undef BLOCK_TAIL
