// CCM over tables; included by kernels.h for each form of a cipher.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/ccm.h"

// A lane a stream, taken as in feedback. The MAC of one block and the keystream
// of the next are made side by side, and with the last block's MAC the mask of
// the tag. schedules: as stream_keys of keys.h makes them. chain: 4 words, the MAC of each stream
// so far. opens: 1 decrypts.
KERNEL(BLOCK_NAME(ccm), BLOCK_CHAIN_LANES(BLOCK_LANES))
(GLOBAL const CipherPiece *pieces, u32 count, GLOBAL u32 *chain, GLOBAL const u32 *schedules,
 u32 rounds, GLOBAL const u8 *in_base, GLOBAL u8 *out_base, GLOBAL const CcmStream *streams,
 GLOBAL const u8 *headers, GLOBAL u32 *results, u32 opens SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  BLOCK_NAME(fill)(tables, 0);
  u32 row = 0, p = block_stream(0), begun = 0, aligned = 0;
  u64 at = 0, length = 0, header_at = 0, header_bytes = 0;
  GLOBAL const u8 *in = in_base;
  GLOBAL u8 *out = out_base;
  GLOBAL const u8 *header = headers;
  GLOBAL const u32 *schedule = schedules;
  GLOBAL u8 *link = (GLOBAL u8 *)chain;
  Block blocks[2] = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};  // the MAC, and keystream
  StreamText unaligned = {blocks[0], blocks[0]};
  while (p < count) {
    GLOBAL const CcmStream *stream = streams + p;
    // One that begins in the text has no keystream for its first block yet.
    u32 authenticates = 1;
    if (!begun) {
      GLOBAL const CipherPiece *piece = pieces + p;
      in = in_base + piece->in;
      out = out_base + piece->out;
      schedule = schedules + BLOCK_STREAM_KEY_WORD(piece->key);
      link = (GLOBAL u8 *)(chain + (u64)piece->chain * 4);
      aligned = block_aligned(in, out);
      length = piece->length;
      header = headers + stream->header;
      header_bytes = stream->header_bytes;
      at = header_at = 0;
      blocks[0] = piece->continues ? load_block(link) : block_iv(piece);
      if (!aligned && length != 0) unaligned = stream_begin(in);
      authenticates = header_bytes != 0;
      begun = 1;
    }
    const Block mac = blocks[0];
    if (header_at < header_bytes) {
      blocks[0] = block_xor(mac, load_block(header + header_at));
      header_at += 16;
    } else if (authenticates) {
      const Block text =
          aligned ? block_ccm_text(in, out, at, length, 1, blocks[1], opens)
                  : block_ccm_unaligned(&unaligned, in, out, at, length, blocks[1], opens);
      blocks[0] = block_xor(mac, text);
      at += 16;
    }
    blocks[1] = block_ccm_next(stream, at, length);
    BLOCK_NAME(encrypt_stream)(blocks, 2, tables, schedule, rounds);
    if (!authenticates) blocks[0] = mac;
    if (header_at >= header_bytes && at >= length) {
      store_block(link, blocks[0]);
      store_block((GLOBAL u8 *)(results + 4 * (u64)stream->result),
                  stream->ends ? block_xor(blocks[0], blocks[1]) : blocks[0]);
      p = block_stream(++row);
      begun = 0;
    }
  }
}
