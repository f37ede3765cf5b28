// Short messages of AES-GCM (SP 800-38D, 7), whole: see kernels/aead/short_message.h. aes_table.h
// includes this for the form with one table, which a group fills soonest.
//
// SPDX-License-Identifier: Apache-2.0

FN u32 BLOCK_NAME(short_sub_word)(u32 word, SHARED const u32 *tables) {
  const u32 copy = BLOCK_COPY;
  return JOIN_BYTES(BLOCK_LOOK_S(word, 0), BLOCK_LOOK_S(word, 1), BLOCK_LOOK_S(word, 2),
                    BLOCK_LOOK_S(word, 3));
}

// The schedule (FIPS 197, 5.2), by one lane: no other one looks into its copy of the table at that
// time. The compiler knows `key_words`, so that what it keeps has fixed places.
FN void BLOCK_NAME(short_expand_of)(SHARED u32 *schedule, SHARED const u32 *key,
                                    const u32 key_words, SHARED const u32 *tables) {
  const u32 words = 4 * (key_words + 7);
  u32 recent[8], round_constant = 1;
  UNROLL for (u32 n = 0; n < key_words; ++n) schedule[n] = recent[n] = key[n];
  for (u32 first = key_words; first < words; first += key_words) {
    recent[0] ^=
        BLOCK_NAME(short_sub_word)(ROTATE_LEFT(recent[key_words - 1], 24), tables) ^ round_constant;
    round_constant = (round_constant << 1) ^ (round_constant >> 7) * 0x11bu;
    UNROLL for (u32 n = 1; n < key_words; ++n) {
      u32 before = recent[n - 1];
      if (key_words == 8 && n == 4) before = BLOCK_NAME(short_sub_word)(before, tables);
      recent[n] ^= before;
    }
    UNROLL for (u32 n = 0; n < key_words; ++n) {
      if (first + n < words) schedule[first + n] = recent[n];
    }
  }
}

FN void BLOCK_NAME(short_expand)(SHARED u32 *schedule, SHARED const u32 *key, u32 key_words,
                                 SHARED const u32 *tables) {
  if (key_words == 4)
    BLOCK_NAME(short_expand_of)(schedule, key, 4, tables);
  else if (key_words == 6)
    BLOCK_NAME(short_expand_of)(schedule, key, 6, tables);
  else
    BLOCK_NAME(short_expand_of)(schedule, key, 8, tables);
}

FN Block BLOCK_NAME(short_encrypt)(Block s, SHARED const u32 *tables, SHARED const u32 *schedule,
                                   u32 rounds) {
  const u32 copy = BLOCK_COPY;
  s = block_xor(s, load_local_block(schedule));
  ROLLED for (u32 round = 1; round < rounds; ++round) {
    const Block key = load_local_block(schedule + 4 * round);
    Block next;
    UNROLL for (u32 c = 0; c < 4; ++c) {
      next.w[c] =
          AES_COLUMN(s.w[c], s.w[(c + 1) & 3], s.w[(c + 2) & 3], s.w[(c + 3) & 3], key.w[c]);
    }
    s = next;
  }
  Block last = load_local_block(schedule + 4 * rounds);
  UNROLL for (u32 c = 0; c < 4; ++c) {
    last.w[c] ^= BLOCK_NAME(last_column)(tables, copy, s.w[c], s.w[(c + 1) & 3], s.w[(c + 2) & 3],
                                         s.w[(c + 3) & 3]);
  }
  return last;
}

// messages: a group each. Lanes take the blocks that are hashed in turn: additional data, text, and
// that of the lengths.
KERNEL(BLOCK_NAME(gcm_short), GCM_SHORT_LANES)
(GLOBAL const ShortMessage *messages, GLOBAL const u8 *aad_base, u32 key_words, u32 opens,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, GLOBAL u8 *tag_base,
 GLOBAL u8 *verdict_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  SHARED u32 *schedule = tables + BLOCK_TABLE1_LOCAL_WORDS, *made = schedule + 64, *sums = made + 8;
  SHARED u32 *fetched = sums + 4 * GCM_SHORT_LANES, *wrong = fetched + SHORT_MESSAGE_WORDS;
  SHARED const ShortMessage *message = (SHARED const ShortMessage *)fetched;
  const u32 lane = lane_id(), lanes = group_lanes(), rounds = key_words + 6;
  // The table is filled while this comes.
  const u32 early = short_look(messages + group_id());
  BLOCK_NAME(fill)(tables, 0);
  short_fetch(fetched, messages + group_id(), early);
  group_barrier();
  if (lane == 0) BLOCK_NAME(short_expand)(schedule, message->key, key_words, tables);
  group_barrier();

  const Block start = {
      {message->start[0], message->start[1], message->start[2], message->start[3]}};
  // H, and the mask of the tag.
  for (u32 n = lane; n < 2; n += lanes) {
    Block b = {{0, 0, 0, 0}};
    if (n == 1) b = start;
    b = BLOCK_NAME(short_encrypt)(b, tables, schedule, rounds);
    UNROLL for (u32 w = 0; w < 4; ++w) made[4 * n + w] = b.w[w];
  }
  group_barrier();

  const Gf128 h = gf128_of_block(load_local_block(made));
  const u32 length = message->length, aad_length = message->aad_length;
  const u32 aad_blocks = (aad_length + 15) / 16, text_ends = aad_blocks + (length + 15) / 16;
  const u32 blocks = text_ends + 1;  // with that of the lengths
  GLOBAL const u8 *aad = aad_base + message->aad_at, *in = in_base + short_place(message->in);
  GLOBAL u8 *out = out_base + short_place(message->out);
  const u32 aligned = block_aligned(in, out);
  Gf128 sum = {{0, 0, 0, 0}};
  if (lane < blocks) {
    Gf128 step = h;
    if (blocks > lanes) step = gf128_power(h, lanes);
    u32 left = 0;
    for (u32 i = lane; i < blocks; i += lanes) {
      Block b = {
          {message->lengths[0], message->lengths[1], message->lengths[2], message->lengths[3]}};
      if (i < aad_blocks) {
        b = load_part(aad + 16 * i, aad_length - 16 * i, 1);
      } else if (i < text_ends) {
        const u32 number = i - aad_blocks, at = 16 * number, bytes = length - at;
        Block counter = start;
        counter.w[3] = SWAP_BYTES(SWAP_BYTES(start.w[3]) + 1 + number);
        const Block data = load_part(in + at, bytes, aligned);
        b = block_xor(data, BLOCK_NAME(short_encrypt)(counter, tables, schedule, rounds));
        store_part(out + at, b, bytes, aligned);
        b = short_part(b, bytes);
        if (opens) b = data;
      }
      if (i != lane) sum = gf128_multiply(sum, step);
      sum = gf128_add(sum, gf128_of_block(b));
      left = blocks - 1 - i;
    }
    sum = gf128_multiply(sum, gf128_power(h, left + 1));
  }
  UNROLL for (u32 w = 0; w < 4; ++w) sums[4 * lane + w] = sum.w[w];
  group_barrier();

  Block tag = {{0, 0, 0, 0}};
  if (lane == 0) {
    const u32 used = blocks < lanes ? blocks : lanes;
    for (u32 n = 1; n < used; ++n) {
      UNROLL for (u32 w = 0; w < 4; ++w) sum.w[w] ^= sums[4 * n + w];
    }
    tag = block_xor(gf128_to_block(sum), load_local_block(made + 4));
  }
  short_end(message, tag, opens, out, tag_base, verdict_base, wrong);
  short_wipe(schedule, GCM_SHORT_LOCAL_WORDS - BLOCK_TABLE1_LOCAL_WORDS);
}
