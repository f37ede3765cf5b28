/*
 * lanecrypt/segments.h: one text as numbered segments under one key, for lc_cipher_job (cipher.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Nonce reuse: two segments of one job never get the same nonce. The caller must make sure that
 *   no other job uses these nonces with this key. If few bytes of the nonce are left beside the
 *   number, random ones soon repeat (7 bytes: within some thousand texts). Then derive a key for
 *   each text from a random salt, as Tink does.
 * - Output before the tag: while a job decrypts, `out` in host memory may hold text that is not
 *   verified yet. Use it only after the job has ended, and only segments whose status is LC_OK.
 * - Truncation: unless `last_flag` or the additional data tell the end of the text, an attacker can
 *   remove segments from it unnoticed.
 *
 * Preconditions
 * - The mode is GCM, CCM, ChaCha20-Poly1305, CTR or ChaCha20.
 * - All segments have the same length, except the first and the last, and lie at one distance.
 *
 * Example: encrypt a text in place, in two segments of 1 MiB and a shorter one, the tags apart.
 *
 *     #include <lanecrypt/lanecrypt.h>
 *     #include <stdio.h>
 *
 *     static uint8_t text[2500000], tags[3][16];
 *
 *     int main(void) {
 *       uint8_t key[32] = {0}, nonce[12] = {0};  // a new random key for each text
 *       lc_context *context = NULL;
 *       lc_segments segments = {.struct_size = sizeof segments, .key = key, .in = text,
 *                               .out = text, .text_bytes = sizeof text, .segment_bytes = 1 << 20,
 *                               .tags = tags, .nonce = nonce, .number = {.at = 8, .bytes = 4}};
 *       lc_cipher_job job = {.struct_size = sizeof job, .cipher = LC_AES_GCM, .key_bytes = 32,
 *                            .direction = LC_ENCRYPT, .segments = &segments};
 *       if (lc_open(NULL, &context) != LC_OK || lc_run(context, &job, NULL) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       lc_close(context);
 *       return 0;
 *     }
 */
#ifndef LANECRYPT_SEGMENTS_H
#define LANECRYPT_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number in bytes that are otherwise the same for all segments. It grows by 1 from each segment
 * to the next. */
typedef struct lc_numbering {
  uint32_t at;    /* offset of its first byte */
  uint32_t bytes; /* its length; 0: there is no number */
  int little_endian;
  uint64_t first; /* the number of the first segment */
} lc_numbering;

/* A text in segments under one key. Each segment is a message of its own, as in the files of Tink,
 * age, Iceberg and others, and in tensors and caches that are cut into pieces. All data are in the
 * memory that lc_cipher_job.memory names. */
typedef struct lc_segments {
  size_t struct_size;
  const void *key; /* host memory, lc_cipher_job.key_bytes */
  /* The text of the first segment, at any alignment. `out == in` works in place, with equal
   * strides. Otherwise the ranges from the first segment to the last must not overlap. Nothing else
   * that the job writes may overlap what it reads or writes: see lc_message. */
  const void *in;
  void *out;
  /* The bytes of text of all segments, without tags. Each segment has `segment_bytes` without its
   * tag, and the last one the rest. The first may be shorter: `first_bytes`, or 0 if it is as long
   * as the others. A text of 0 bytes is one segment. */
  uint64_t text_bytes;
  uint64_t segment_bytes;
  uint64_t first_bytes;
  /* The distance from the start of one segment's text to that of the next, between segments of
   * `segment_bytes`. After a shorter first segment the next is nearer by the difference. 0: the
   * texts are contiguous, except for tags behind them. */
  uint64_t in_stride;
  uint64_t out_stride;
  /* The tag of the first segment, in lc_cipher_job.tag_memory, and the distance from each tag to
   * the next (0: `tag_bytes`). `tags` is NULL: each tag follows the text of its segment, in `out`
   * for encryption and in `in` for decryption; `tag_memory` then counts as `memory`. */
  void *tags;
  uint64_t tag_stride;
  /* The nonce or IV, host memory, lc_cipher_job.iv_bytes: the same for all segments but for the
   * number in it. If `last_flag` is 1, the byte at `last_flag_at` is 1 in the last segment of the
   * whole text and 0 in all others; `is_end` says that the last segment of this job is that one.
   * LC_ERROR_ARGUMENT, so that no two segments of a job share a nonce: the numbers do not fit in
   * their bytes; several segments have no number; in CTR and ChaCha20, whose IV counts blocks, the
   * blocks of one segment reach the next one's number. */
  const void *nonce;
  lc_numbering number;
  int last_flag;
  uint32_t last_flag_at;
  int is_end;
  /* Not 0: each segment's nonce is given, at this distance from the one before. There is neither a
   * number nor `last_flag`. */
  uint64_t nonce_stride;
  /* Additional data, the same for all segments but for the number in it. It must stay until the job
   * has ended, as the input. */
  const void *aad;
  uint64_t aad_length;
  lc_numbering aad_number;
  /* The memory of `aad`. LC_MEMORY_DEVICE: the messages' device, at any alignment, read in stream
   * order. This is for GCM and ChaCha20-Poly1305 with nonces of 12 bytes and at most 4,096 bytes of
   * additional data, if texts and tags are in device memory too (others: LC_ERROR_UNSUPPORTED). */
  lc_memory aad_memory;
} lc_segments;

#ifdef __cplusplus
}
#endif

#endif
