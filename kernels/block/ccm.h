// CCM (SP 800-38C): what all ciphers and forms share, which is counter blocks and text that ends in
// a partial block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead_layout.h"
#include "kernels/block/stream_text.h"
#include "kernels/block/streams.h"

// Returns counter block Ctr_`number` (SP 800-38C, A.3). The counter field of `stream->counter`,
// which is block 0, is zero.
FN Block block_ccm_counter(GLOBAL const CcmStream *stream, u64 number) {
  const u32 low = (u32)number, high = (u32)(number >> 32);
  const Block b = {{stream->counter[0], stream->counter[1], stream->counter[2] | SWAP_BYTES(high),
                    stream->counter[3] | SWAP_BYTES(low)}};
  return b;
}

// Returns the counter block for the text after byte `at` of `length`: that of the next text block,
// or block 0, which masks the tag, if no text is left.
FN Block block_ccm_next(GLOBAL const CcmStream *stream, u64 at, u64 length) {
  return block_ccm_counter(stream, at < length ? stream->first_block + at / 16 + 1 : 0);
}

// Encrypts or decrypts the block of text at byte `at`, and returns its plaintext, padded with
// zeros, for the MAC.
FN Block block_ccm_text(GLOBAL const u8 *in, GLOBAL u8 *out, u64 at, u64 length, u32 aligned,
                        Block keystream, u32 opens) {
  const Block zero = {{0, 0, 0, 0}};
  const u64 left = length - at;
  const Block from = load_part(in + at, left, aligned);
  Block to = block_xor(from, keystream);
  store_part(out + at, to, left, aligned);
  if (left < 16) to = block_join(to, zero, (u32)left);
  return opens ? to : from;
}

// As block_ccm_text() for unaligned input or output, for a caller that processes the blocks in
// order.
FN Block block_ccm_unaligned(StreamText *text, GLOBAL const u8 *in, GLOBAL u8 *out, u64 at,
                             u64 length, Block keystream, u32 opens) {
  const Block zero = {{0, 0, 0, 0}};
  const u64 left = length - at;
  Block from = stream_read(text, in, at, length);
  Block to = block_xor(from, keystream);
  stream_write(text, out, to, at, length);
  if (opens) from = to;
  return left < 16 ? block_join(from, zero, (u32)left) : from;
}
