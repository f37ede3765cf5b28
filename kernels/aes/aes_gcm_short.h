// Short messages of AES-GCM (SP 800-38D, 7), whole: see kernels/aead/short_message.h. aes_table.h
// includes this for the form with one table, which a group fills soonest.
//
// SPDX-License-Identifier: Apache-2.0

// The schedule (FIPS 197, 5.2), by one lane: no other one looks into its copy of the table at that
// time.
FN void BLOCK_NAME(short_expand)(SHARED u32 *schedule, SHARED const u32 *key, u32 key_words,
                                 SHARED const u32 *tables) {
  const u32 copy = BLOCK_COPY;
  u32 last = 0, round_constant = 1, place = 0;
  for (u32 i = 0; i < key_words; ++i) schedule[i] = last = key[i];
  for (u32 i = key_words; i < 4 * (key_words + 7); ++i) {
    if (place == 0) last = ROTATE_LEFT(last, 24);
    if (place == 0 || (key_words == 8 && place == 4))
      last = JOIN_BYTES(BLOCK_LOOK_S(last, 0), BLOCK_LOOK_S(last, 1), BLOCK_LOOK_S(last, 2),
                        BLOCK_LOOK_S(last, 3));
    if (place == 0) {
      last ^= round_constant;
      round_constant = (round_constant << 1) ^ (round_constant >> 7) * 0x11bu;
    }
    last ^= schedule[i - key_words];
    schedule[i] = last;
    place = place + 1 == key_words ? 0 : place + 1;
  }
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

// messages: a group each. Each lane has the blocks of the message, additional data first, that come
// after its own by as many as there are lanes.
KERNEL(BLOCK_NAME(gcm_short), GCM_SHORT_LANES)
(GLOBAL const ShortMessage *messages, GLOBAL const u8 *aad_base, u32 key_words, u32 opens,
 GLOBAL const u8 *in_base, GLOBAL u8 *out_base, GLOBAL u8 *tag_base,
 GLOBAL u8 *verdict_base SHARED_PARAMETER) {
  SHARED_WORDS(tables);
  SHARED u32 *schedule = tables + BLOCK_TABLE1_LOCAL_WORDS, *made = schedule + 64, *sums = made + 8;
  SHARED u32 *fetched = sums + 4 * GCM_SHORT_LANES, *wrong = fetched + SHORT_MESSAGE_WORDS;
  SHARED const ShortMessage *message = (SHARED const ShortMessage *)fetched;
  const u32 lane = lane_id(), lanes = group_lanes(), rounds = key_words + 6;
  short_fetch(fetched, messages + group_id());
  BLOCK_NAME(fill)(tables, 0);
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
  const u32 aad_blocks = (aad_length + 15) / 16, blocks = aad_blocks + (length + 15) / 16;
  GLOBAL const u8 *aad = aad_base + message->aad_at, *in = in_base + short_place(message->in);
  GLOBAL u8 *out = out_base + short_place(message->out);
  const u32 aligned = block_aligned(in, out);
  Gf128 sum = {{0, 0, 0, 0}};
  if (lane < blocks) {
    Gf128 step = h;
    if (blocks > lanes) step = gf128_power(h, lanes);
    u32 left = 0;
    for (u32 i = lane; i < blocks; i += lanes) {
      Block b;
      if (i < aad_blocks) {
        b = load_part(aad + 16 * i, aad_length - 16 * i, 1);
      } else {
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
    sum = gf128_multiply(sum, gf128_power(h, left + 2));
  }
  if (lane == 1 % lanes) {
    const Block lengths = {
        {message->lengths[0], message->lengths[1], message->lengths[2], message->lengths[3]}};
    sum = gf128_add(sum, gf128_multiply(gf128_of_block(lengths), h));
  }
  UNROLL for (u32 w = 0; w < 4; ++w) sums[4 * lane + w] = sum.w[w];
  group_barrier();

  Block tag = {{0, 0, 0, 0}};
  if (lane == 0) {
    const u32 most = blocks < 2 ? 2 : blocks, used = most < lanes ? most : lanes;
    for (u32 n = 1; n < used; ++n) {
      UNROLL for (u32 w = 0; w < 4; ++w) sum.w[w] ^= sums[4 * n + w];
    }
    tag = block_xor(gf128_to_block(sum), load_local_block(made + 4));
  }
  short_end(message, tag, opens, out, tag_base, verdict_base, wrong);
  short_wipe(schedule, GCM_SHORT_LOCAL_WORDS - BLOCK_TABLE1_LOCAL_WORDS);
}
