// CTR over tables; included by kernels.h for each form of a cipher. Its counters are
// taken by windows: see layout.h.
//
// SPDX-License-Identifier: Apache-2.0

#define BLOCK_CTR_NAME BLOCK_NAME(ctr)
#define BLOCK_CTR_REGISTERS BLOCK_TABLE_REGISTERS
#define BLOCK_CTR_TILE                               \
  const u64 first = number - lane_id() % TEAM_LANES; \
  const u32 aligned = block_aligned(in, out);        \
  const u32 whole =                                  \
      aligned && first < length && 16 * (first + (rows - 1) * 256 + tile_columns) <= length;
#define BLOCK_CTR_ROW                                                                   \
  if (whole) {                                                                          \
    Block data[BLOCK_TABLE_BLOCKS];                                                     \
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {                               \
      data[n] = load_block(in + 16 * (number + n * TEAM_LANES));                        \
    }                                                                                   \
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {                               \
      store_block(out + 16 * (number + n * TEAM_LANES), block_xor(blocks[n], data[n])); \
    }                                                                                   \
  } else {                                                                              \
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {                               \
      const u64 at = 16 * (number + n * TEAM_LANES);                                    \
      if (at < length) {                                                                \
        const Block b = block_xor(blocks[n], load_part(in + at, length - at, aligned)); \
        store_part(out + at, b, length - at, aligned);                                  \
      }                                                                                 \
    }                                                                                   \
  }
#include "kernels/block/table/ctr_rows.h"
#undef BLOCK_CTR_NAME
#undef BLOCK_CTR_REGISTERS
#undef BLOCK_CTR_TILE
#undef BLOCK_CTR_ROW

#ifdef BLOCK_ACROSS
// For texts at any address.
#include "kernels/block/across.h"
#define BLOCK_CTR_NAME BLOCK_NAME(ctr_across)
#define BLOCK_CTR_REGISTERS BLOCK_ACROSS_REGISTERS
#define BLOCK_CTR_TILE
#define BLOCK_CTR_ROW \
  across_xor(out, in, blocks, BLOCK_TABLE_BLOCKS, number, length, BLOCK_SCRATCH);
#include "kernels/block/table/ctr_rows.h"
#undef BLOCK_CTR_NAME
#undef BLOCK_CTR_REGISTERS
#undef BLOCK_CTR_TILE
#undef BLOCK_CTR_ROW
#endif
