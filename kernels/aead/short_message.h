// Short messages of authenticated modes, one thread block per message: what every such kernel does
// before and after its cipher and hash. For so few bytes, launching the kernels of long messages
// one after the other takes longer than the work itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead_layout.h"
#include "kernels/block/tiles.h"
#include "tag_difference.h"

// short_look() and short_fetch() copy the message to shared memory by all threads at once, since it
// may lie in host memory, where a read takes long. `early` is each thread's first word, which
// short_look() requested before other work.
FN u32 short_look(GLOBAL const ShortMessage *message) {
  return thread_id() < SHORT_MESSAGE_WORDS ? ((GLOBAL const u32 *)message)[thread_id()] : 0;
}

FN void short_fetch(SHARED u32 *to, GLOBAL const ShortMessage *message, u32 early) {
  GLOBAL const u32 *words = (GLOBAL const u32 *)message;
  if (thread_id() < SHORT_MESSAGE_WORDS) to[thread_id()] = early;
  for (u32 i = thread_id() + thread_block_size(); i < SHORT_MESSAGE_WORDS; i += thread_block_size())
    to[i] = words[i];
}

FN u64 short_place(SHARED const u32 *words) { return (u64)words[1] << 32 | words[0]; }

// Returns the first `bytes` of a block, padded with zeros.
FN Block short_part(Block b, u32 bytes) {
  UNROLL for (u32 w = 0; w < 4; ++w) {
    if (bytes <= 4 * w)
      b.w[w] = 0;
    else if (bytes < 4 * w + 4)
      b.w[w] &= (1u << (8 * (bytes - 4 * w))) - 1;
  }
  return b;
}

// Writes the tag, or compares it and wipes the output if it is wrong. Thread 0 passes the computed
// `tag`.
FN void short_end(SHARED const ShortMessage *message, Block tag, u32 opens, GLOBAL u8 *out,
                  GLOBAL u8 *tag_base, GLOBAL u8 *verdict_base, SHARED u32 *wrong) {
  if (thread_id() == 0) {
    GLOBAL u8 *place = tag_base + short_place(message->tag_at);
    u32 difference = 0;
    if (opens) {
      Block given = {{message->tag[0], message->tag[1], message->tag[2], message->tag[3]}};
      if ((message->is & TAG_IN_MEMORY) != 0) given = block_load_bytes(place, message->tag_bytes);
      difference = tag_difference(tag, given, message->tag_bytes);
      if ((message->is & TAG_HAS_VERDICT) != 0)
        verdict_base[short_place(message->verdict_at)] = difference == 0 ? 1 : 0;
    } else {
      block_store_bytes(place, tag, message->tag_bytes);
    }
    *wrong = difference;
  }
  thread_block_barrier();
  if (*wrong != 0) {
    const Block zero = {{0, 0, 0, 0}};
    const u32 aligned = ((u64)out & 15) == 0;
    for (u32 at = 16 * thread_id(); at < message->length; at += 16 * thread_block_size())
      store_part(out + at, zero, message->length - at, aligned);
  }
}

// Wipes shared memory, as the last step of a thread block: another thread block gets the memory
// next.
FN void short_wipe(SHARED u32 *words, u32 count) {
  thread_block_barrier();
  for (u32 i = thread_id(); i < count; i += thread_block_size()) words[i] = 0;
}
