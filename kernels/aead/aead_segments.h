// Segments of one text: the device writes the structures that the host otherwise writes for each
// message, so a million segments cost the host as much as one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead_layout.h"
#include "kernels/block/tiles.h"

FN u32 segment_shape(GLOBAL const SegmentRule *rule, u32 n) {
  return n == 0 ? SEGMENT_FIRST : n + 1 == rule->count ? SEGMENT_LAST : SEGMENT_BETWEEN;
}

// Returns a sum over all segments before segment n, if the first one counts `first` and each of the
// others `next`.
FN u64 segment_before(u32 n, u64 first, u64 next) { return n == 0 ? 0 : first + (n - 1) * next; }

FN u32 segment_first_run(GLOBAL const SegmentRule *rule, u32 n) {
  return (u32)segment_before(n, rule->shapes[SEGMENT_FIRST].runs,
                             rule->shapes[SEGMENT_BETWEEN].runs);
}

FN u64 segment_place(SegmentPlaces places, u32 n) {
  return n == 0 ? places.first : places.second + (n - 1) * places.stride;
}

// Returns the byte at position `within` of a number of `bytes` bytes.
FN u32 segment_number_byte(u64 number, u32 within, u32 bytes, u32 is_little_endian) {
  const u32 power = is_little_endian ? within : bytes - 1 - within;
  return power < 8 ? (u32)(number >> (8 * power)) & 0xff : 0;
}

// Returns byte `byte` of segment n's nonce: the rule's byte, with the number and the byte that
// marks the last segment in their places.
FN u32 segment_nonce_byte(GLOBAL const SegmentRule *rule, u32 n, u32 byte) {
  const u32 within = byte - rule->number_at;  // wraps if the byte lies before the number
  if (byte == rule->flag_at) return n + 1 == rule->count ? rule->is_end : 0;
  if (byte < rule->number_at || within >= rule->number_bytes)
    return rule->nonce[byte / 4] >> (8 * (byte % 4)) & 0xff;
  return segment_number_byte(rule->number + n, within, rule->number_bytes, rule->is_little_endian);
}

FN u32 segment_nonce_word(GLOBAL const SegmentRule *rule, u32 n, u32 word) {
  u32 made = 0;
  UNROLL for (u32 i = 0; i < 4; ++i) made |= segment_nonce_byte(rule, n, 4 * word + i) << (8 * i);
  return made;
}

FN void segment_nonce(u32 *nonce, GLOBAL const SegmentRule *rule, GLOBAL const u32 *given, u32 n) {
  UNROLL for (u32 w = 0; w < 3; ++w) {
    nonce[w] = rule->nonces_are_given ? given[3 * (u64)n + w] : segment_nonce_word(rule, n, w);
  }
}

// Writes all fields of a piece except its counter block.
FN void segment_write_piece(GLOBAL const SegmentRule *rule, u32 n, GLOBAL CipherPiece *piece) {
  piece->in = segment_place(rule->in, n);
  piece->out = segment_place(rule->out, n);
  piece->length = rule->shapes[segment_shape(rule, n)].length;
  piece->first_tile = n < rule->concurrent_from
                          ? segment_before(n, rule->shapes[SEGMENT_FIRST].tiles,
                                           rule->shapes[SEGMENT_BETWEEN].tiles)
                          : (n - rule->concurrent_from) * rule->concurrent_tiles;
  piece->key = piece->continues = 0;
  piece->chain = n;
  piece->tail_bytes = piece->swapped = 0;
  piece->slots = 0;
  piece->unit_bytes = piece->first_point = 0;
}

FN void segment_write(GLOBAL const SegmentRule *rule, const u32 *nonce, u32 n,
                      GLOBAL CipherPiece *piece, GLOBAL HashSum *sum, GLOBAL TagCheck *check) {
  GLOBAL const SegmentShape *shape = rule->shapes + segment_shape(rule, n);
  const u64 in = segment_place(rule->in, n), out = segment_place(rule->out, n);
  segment_write_piece(rule, n, piece);
  // The first counter of the text: for GCM it is 2 and follows the nonce; for ChaCha20-Poly1305 it
  // is 1 and precedes the nonce.
  piece->iv[0] = rule->is_poly ? 1 : nonce[0];
  piece->iv[1] = nonce[rule->is_poly ? 0 : 1];
  piece->iv[2] = nonce[rule->is_poly ? 1 : 2];
  piece->iv[3] = rule->is_poly ? nonce[2] : 0x02000000u;

  sum->first_run = segment_first_run(rule, n);
  sum->run_count = shape->runs;
  sum->key = rule->is_poly ? n : 0;
  sum->closes = 1;
  sum->mask = n;
  UNROLL for (u32 i = 0; i < 4; ++i) sum->lengths[i] = shape->lengths[i];

  check->at = out;
  check->length = shape->length;
  check->tag_at = rule->tags == SEGMENT_TAGS_APART        ? segment_place(rule->tag, n)
                  : rule->tags == SEGMENT_TAGS_BEHIND_OUT ? out + shape->length
                                                          : in + shape->length;
  check->verdict_at = rule->verdict + n;
  check->first_sum = n * rule->sums_each;
  check->sum_count = rule->sums_each;
  check->tag_bytes = rule->tag_bytes;
  check->is = rule->check;
}

// Writes a run, which is number `number` of segment n.
FN void segment_write_run(GLOBAL const SegmentRule *rule, u32 n, u32 number, GLOBAL HashRun *run) {
  GLOBAL const SegmentShape *shape = rule->shapes + segment_shape(rule, n);
  const u32 by_matrix = number < shape->matrix_runs;
  const u64 begin = by_matrix ? 0 : shape->matrix_bytes;
  const u64 end = by_matrix ? shape->matrix_bytes : shape->length;
  const u64 at = begin + rule->run_bytes * (by_matrix ? number : number - shape->matrix_runs);
  const u64 length = end - at < rule->run_bytes ? end - at : rule->run_bytes;
  const u64 from = rule->is_poly ? 0  // `at` counts from the piece
                   : rule->opens ? segment_place(rule->in, n)
                                 : segment_place(rule->out, n);
  run->at = from + at;
  run->length = length;
  // The text is followed by one more block, that of the lengths.
  run->exponent = 2 + (shape->length + 15) / 16 - (at + length + 15) / 16;
  run->key = rule->is_poly ? n : 0;
  run->source = HASH_SOURCE_DATA;
  // GHASH has one key for all segments. Poly1305 has a key, and so a set of matrices, for each
  // segment that has matrices.
  const u32 first_set = rule->shapes[SEGMENT_FIRST].matrix_runs != 0 ? 0 : 1;
  run->matrices = !by_matrix ? HASH_NO_MATRICES : rule->is_poly ? n - first_set : 0;
  run->piece = n;
}

// Writes the pieces, runs, sums and tag checks of all segments. `starts`: for GCM, a zero block and
// then J0 of each segment (SP 800-38D, 7.1); otherwise a OneTimeKey of each. `nonces` has three
// words for each segment, if the caller passes nonces.
KERNEL(aead_segments, SEGMENT_THREADS)
(GLOBAL const SegmentRule *rule, GLOBAL const u32 *nonces, GLOBAL CipherPiece *pieces,
 GLOBAL HashRun *runs, GLOBAL HashSum *sums, GLOBAL TagCheck *checks, GLOBAL u32 *starts) {
  const u32 first = thread_block_id() * thread_block_size() + thread_id(),
            step = thread_block_count() * thread_block_size();
  for (u32 n = first; n < rule->count; n += step) {
    u32 nonce[3];
    segment_nonce(nonce, rule, nonces, n);
    segment_write(rule, nonce, n, pieces + n, sums + (u64)n * rule->sums_each, checks + n);
    GLOBAL u32 *start = starts + 4 * ((u64)n + (rule->is_poly ? 0 : 1));
    start[0] = rule->is_poly ? 0 : nonce[0];
    start[1] = nonce[rule->is_poly ? 0 : 1];
    start[2] = nonce[rule->is_poly ? 1 : 2];
    start[3] = rule->is_poly ? nonce[2] : 0x01000000u;
    if (n == 0 && !rule->is_poly) {
      UNROLL for (u32 w = 0; w < 4; ++w) starts[w] = 0;
    }
  }
  const u32 last_begins = segment_first_run(rule, rule->count - 1);
  const u32 of_first = rule->shapes[SEGMENT_FIRST].runs;
  const u32 of_next = rule->shapes[SEGMENT_BETWEEN].runs;
  for (u32 r = first; r < rule->run_count; r += step) {
    u32 n = 0;
    if (r >= last_begins)
      n = rule->count - 1;
    else if (r >= of_first)
      n = 1 + (r - of_first) / of_next;
    segment_write_run(rule, n, r - segment_first_run(rule, n), runs + r);
  }
}
