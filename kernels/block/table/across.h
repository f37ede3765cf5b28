// ECB, and decryption of CBC and CFB, of texts at any address; included by kernels.h for the
// forms of each cipher whose teams have 32 lanes (BLOCK_ACROSS). See kernels/block/across.h.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/across.h"

// As BLOCK_TILE_PIECE of modes.h, but nothing is read yet. in: the lane's first block; end: bytes
// of the text from the tile's first block on.
#define BLOCK_ACROSS_PIECE                                                         \
  const u64 tile = (u64)trip * block_teams() + team;                               \
  p = block_next_piece(pieces, count, p, tile);                                    \
  GLOBAL const CipherPiece *piece = pieces + p;                                    \
  GLOBAL const u32 *schedule = schedules + (u64)piece->key * BLOCK_SCHEDULE_WORDS; \
  const u64 length = tile < tiles ? piece->length : 0;                             \
  const u32 tile_bytes = 16 * BLOCK_TABLE_BLOCKS * TEAM_LANES;                     \
  const u64 tile_at = (tile - piece->first_tile) * tile_bytes;                     \
  const u64 left = tile_at < length ? length - tile_at : 0;                        \
  const u32 end = left < tile_bytes ? (u32)left : tile_bytes;                      \
  const u64 first = tile_at / 16 + lane_id() % TEAM_LANES;                         \
  GLOBAL const u8 *in = in_base + piece->in + 16 * first;                          \
  Block blocks[BLOCK_TABLE_BLOCKS];

// The ciphertext before each of the lane's blocks. In front of the text there is none, unless it
// goes on with a message.
#define BLOCK_ACROSS_BEFORE(blocks)                             \
  const u32 begin = tile_at == 0 && !piece->continues ? 16 : 0; \
  across_read(blocks, BLOCK_TABLE_BLOCKS, in - 16, begin, end); \
  if (begin != 0 && first == 0) blocks[0] = block_iv(piece);

#define BLOCK_ACROSS_STORE \
  across_store(out_base + piece->out + 16 * first, blocks, BLOCK_TABLE_BLOCKS, end, BLOCK_SCRATCH);

KERNEL_OF(BLOCK_NAME(ecb_encrypt_across), BLOCK_LANES, BLOCK_ACROSS_REGISTERS)
BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_FOR_EACH_TILE {
    BLOCK_ACROSS_PIECE
    across_read(blocks, BLOCK_TABLE_BLOCKS, in, 0, end);
    BLOCK_NAME(encrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    BLOCK_ACROSS_STORE
  }
}

KERNEL_OF(BLOCK_NAME(ecb_decrypt_across), BLOCK_LANES, BLOCK_ACROSS_REGISTERS)
BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  LET_NEXT_BEGIN();
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_FOR_EACH_TILE {
    BLOCK_ACROSS_PIECE
    across_read(blocks, BLOCK_TABLE_BLOCKS, in, 0, end);
    BLOCK_NAME(decrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    BLOCK_ACROSS_STORE
  }
}

// Input and output must not share memory, in these as in the other kernels of their modes.
KERNEL_OF(BLOCK_NAME(cbc_decrypt_across), BLOCK_LANES, BLOCK_ACROSS_REGISTERS)
BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 1);
  BLOCK_FOR_EACH_TILE {
    BLOCK_ACROSS_PIECE
    across_read(blocks, BLOCK_TABLE_BLOCKS, in, 0, end);
    BLOCK_NAME(decrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    Block before[BLOCK_TABLE_BLOCKS];
    BLOCK_ACROSS_BEFORE(before)
    UNROLL for (u32 n = 0; n < BLOCK_TABLE_BLOCKS; ++n) {
      blocks[n] = block_xor(blocks[n], before[n]);
    }
    BLOCK_ACROSS_STORE
  }
}

KERNEL_OF(BLOCK_NAME(cfb_decrypt_across), BLOCK_LANES, BLOCK_ACROSS_REGISTERS)
BLOCK_TILE_PARAMETERS {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  BLOCK_FOR_EACH_TILE {
    BLOCK_ACROSS_PIECE
    BLOCK_ACROSS_BEFORE(blocks)
    BLOCK_NAME(encrypt)(blocks, BLOCK_TABLE_BLOCKS, tables, schedule, rounds);
    across_xor(out_base + piece->out, in_base + piece->in, blocks, BLOCK_TABLE_BLOCKS, first,
               length, BLOCK_SCRATCH);
  }
}

#undef BLOCK_ACROSS_PIECE
#undef BLOCK_ACROSS_BEFORE
#undef BLOCK_ACROSS_STORE
