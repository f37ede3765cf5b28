// ChaCha20-Poly1305 (RFC 8439, 2.8) of short messages, each in one thread block: see
// short_message.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chacha20_alone.h"
#include "poly1305.h"
#include "short_message.h"

// Computes the keystream of block `number`.
FN void chacha20_short_block(u32 *x, SHARED const ShortMessage *message, u32 number) {
  u32 iv[4], first[16];
  UNROLL for (int i = 0; i < 4; ++i) iv[i] = message->start[i];
  chacha20_frame(first, iv, number);
  UNROLL for (int i = 0; i < 8; ++i) first[4 + i] = message->key[i];
  chacha20_from(x, first);
}

// Processes one message per thread block. A thread takes four blocks of 16 bytes at a time, of
// additional data or of text.
KERNEL(chacha20_poly1305_short, CHACHA20_SHORT_THREADS)
(GLOBAL const ShortMessage *messages, GLOBAL const u8 *aad_base, u32 opens,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, GLOBAL u8 *tag_base,
 GLOBAL u8 *verdict_base SHARED_PARAMETER) {
  SHARED_WORDS(one_time);
  SHARED u32 *sums = one_time + 16;
  SHARED u32 *fetched = sums + 8 * CHACHA20_SHORT_THREADS, *wrong = fetched + SHORT_MESSAGE_WORDS;
  SHARED const ShortMessage *message = (SHARED const ShortMessage *)fetched;
  const u32 thread = thread_id(), threads = thread_block_size();
  short_fetch(fetched, messages + thread_block_id(), short_look(messages + thread_block_id()));
  thread_block_barrier();
  if (thread == 0) {
    u32 x[16];
    chacha20_short_block(x, message, 0);
    const Poly r = poly_clamp(x);
    UNROLL for (int i = 0; i < 5; ++i) one_time[i] = r.w[i];
    UNROLL for (int i = 0; i < 4; ++i) one_time[8 + i] = x[4 + i];
  }
  thread_block_barrier();

  Poly r;
  UNROLL for (int i = 0; i < 5; ++i) r.w[i] = one_time[i];
  const u32 length = message->length, aad_length = message->aad_length;
  const u32 aad_blocks = (aad_length + 15) / 16, blocks = aad_blocks + (length + 15) / 16;
  const u32 aad_steps = (aad_blocks + 3) / 4;
  const u32 steps = aad_steps + (length + CHACHA20_BLOCK_BYTES - 1) / CHACHA20_BLOCK_BYTES;
  GLOBAL const u8 *aad = aad_base + message->aad_at, *in = in_base + short_place(message->in);
  GLOBAL u8 *out = out_base + short_place(message->out);
  const u32 aligned = block_aligned(in, out);
  u64 limbs[5] = {0, 0, 0, 0, 0};
  for (u32 step = thread; step < steps; step += threads) {
    const u32 is_text = step >= aad_steps, number = is_text ? step - aad_steps : step;
    const u32 at = CHACHA20_BLOCK_BYTES * number;
    const u32 bytes = (is_text ? length : aad_length) - at;
    Block data[4];
    if (is_text && !aligned)
      chacha20_load_alone(data, in + at, bytes);
    else
      chacha20_load(data, is_text ? in + at : aad + at, bytes, 1);
    if (is_text) {
      u32 x[16];
      Block made[4];
      chacha20_short_block(x, message, 1 + number);
      UNROLL for (u32 i = 0; i < 4; ++i) made[i] = data[i];
      chacha20_xor(made, x);
      if (aligned)
        chacha20_store(out + at, made, bytes, 1);
      else
        chacha20_store_alone(out + at, made, bytes);
      if (!opens) {
        UNROLL for (u32 i = 0; i < 4; ++i) {
          data[i] = short_part(made[i], bytes > 16 * i ? bytes - 16 * i : 0);
        }
      }
    }
    Poly hash = poly_zero();
    u32 last = is_text ? aad_blocks + 4 * number : 4 * number;
    UNROLL for (u32 i = 0; i < 4; ++i) {
      if (16 * i < bytes) {
        if (i != 0) {
          hash = poly_multiply(hash, r);
          ++last;
        }
        hash = poly_add(hash, poly_of_block(data[i]));
      }
    }
    // The block of lengths follows the message's last block, so the last block is multiplied by
    // r^2.
    hash = poly_multiply(hash, poly_power(r, blocks - last + 1));
    UNROLL for (int i = 0; i < 5; ++i) limbs[i] += hash.w[i];
  }
  const Poly sum = poly_carry(limbs);
  UNROLL for (int i = 0; i < 5; ++i) sums[8 * thread + i] = sum.w[i];
  thread_block_barrier();

  Block tag = {{0, 0, 0, 0}};
  if (thread == 0) {
    const Block lengths = {
        {message->lengths[0], message->lengths[1], message->lengths[2], message->lengths[3]}};
    const Block s = {{one_time[8], one_time[9], one_time[10], one_time[11]}};
    const Poly end = poly_multiply(poly_of_block(lengths), r);
    const u32 used = steps < threads ? steps : threads;
    UNROLL for (int i = 0; i < 5; ++i) limbs[i] = end.w[i];
    for (u32 n = 0; n < used; ++n) {
      UNROLL for (int i = 0; i < 5; ++i) limbs[i] += sums[8 * n + i];
    }
    tag = poly_finish(poly_carry(limbs), s);
  }
  short_end(message, tag, opens, out, tag_base, verdict_base, wrong);
  short_wipe(one_time, CHACHA20_SHORT_SHARED_WORDS);
}
