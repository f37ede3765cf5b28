/*
 * lanecrypt/hash.h: SHA-2, SHA-3, SHAKE, BLAKE3, Merkle trees and ParallelHash.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - A digest is not a MAC. SHA-2 of a key and a message can be extended: use LC_BLAKE3_KEYED.
 * - None of these functions is a password hash. LC_BLAKE3_DERIVE_KEY is for keys, not for
 *   passwords.
 * - Digests of jobs in device memory are not verified by the CPU: see lc_hash_run().
 *
 * Preconditions
 * - Messages and digests stay until the job has ended. The list of messages, the key and the text
 *   are copied before a call returns.
 * - A digest overlaps no message and no other digest.
 *
 * Example: the SHA-256 digests of two messages in one call.
 *
 *     #include <lanecrypt/hash.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       uint8_t digests[2][32];
 *       lc_context *context = NULL;
 *       lc_hash_message messages[2] = {{.in = "abc", .length = 3, .digest = digests[0]},
 *                                      {.in = "", .length = 0, .digest = digests[1]}};
 *       lc_hash_job job = {.struct_size = sizeof job, .hash = LC_SHA_256, .messages = messages,
 *                          .message_count = 2, .message_size = sizeof messages[0]};
 *       if (lc_open(NULL, &context) != LC_OK || lc_hash_run(context, &job, NULL) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       for (int i = 0; i < 32; ++i) printf("%02x", digests[0][i]);
 *       lc_close(context);
 *       return 0;
 *     }
 */
#ifndef LANECRYPT_HASH_H
#define LANECRYPT_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/core.h"
#include "lanecrypt/job.h"
#include "lanecrypt/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lc_hash {
  LC_SHA_224 = 0, /* FIPS 180-4 */
  LC_SHA_256 = 1,
  LC_SHA_384 = 2,
  LC_SHA_512 = 3,
  LC_SHA3_224 = 4, /* FIPS 202 */
  LC_SHA3_256 = 5,
  LC_SHA3_384 = 6,
  LC_SHA3_512 = 7,
  LC_SHAKE_128 = 8, /* FIPS 202; digests of any length, 32 bytes by default */
  LC_SHAKE_256 = 9, /* the same; 64 bytes by default */
  /* BLAKE3; digests of any length, 32 bytes by default. */
  LC_BLAKE3 = 10,
  LC_BLAKE3_KEYED = 11,      /* with a key of 32 bytes */
  LC_BLAKE3_DERIVE_KEY = 12, /* derives keys from messages; the context is the job's `text` */
  /* RFC 9162, section 2.1.1, with SHA-256: the root of the tree whose leaves are `leaf_bytes` of
   * the message each, and the rest of it in the last one. */
  LC_MERKLE_SHA_256 = 13,
  /* SP 800-185, section 6. `leaf_bytes` is the block size B, and `text` the customization string S.
   * Digests of any length, by default 32 bytes for 128 and 64 for 256. */
  LC_PARALLEL_HASH_128 = 14,
  LC_PARALLEL_HASH_256 = 15,
  LC_PARALLEL_HASH_XOF_128 = 16,
  LC_PARALLEL_HASH_XOF_256 = 17
} lc_hash;

/* One message, at any alignment and of any length, including 0, and where its digest is written:
 * lc_hash_job.digest_bytes. A digest that overlaps a message or another digest of the job is
 * LC_ERROR_ARGUMENT. As for lc_message, one memory mapped at two addresses is not detected. */
typedef struct lc_hash_message {
  const void *in; /* may be NULL if `length` is 0 */
  uint64_t length;
  void *digest;
} lc_hash_message;

/* Messages, each with a digest of its own, under one hash. Many messages are hashed in parallel. Of
 * a single message only BLAKE3, the Merkle tree and ParallelHash hash many parts in parallel. */
typedef struct lc_hash_job {
  size_t struct_size;
  lc_hash hash;
  lc_memory memory; /* of every message */
  /* What does the job:
   * - The index of a device, selected or not. Index 0 needs `has_device = 1`.
   * - LC_CPU: several cores, with OpenSSL, and this library for BLAKE3. Host memory only.
   * - LC_ANY_DEVICE, or 0 without `has_device`: Lanecrypt chooses. With host memory the CPU does
   *   less than 1 MiB, and jobs that are mostly one message of a hash that is no tree. With device
   *   memory all messages are on one device: that of lc_alloc_device(), or else device 0. */
  uint32_t device;
  /* As lc_cipher_job.stream, but LC_STREAM_PER_THREAD is LC_ERROR_UNSUPPORTED. */
  void *stream;
  const lc_hash_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_hash_message) */
  /* The length of every digest. 0: the default. Other lengths, up to 2^30, only if lc_hash says
   * so. */
  uint64_t digest_bytes;
  /* The memory of the digests. Host memory: they are there when the job has ended.
   * LC_MEMORY_DEVICE, for messages in device memory: on the messages' device, in stream order; not
   * for ParallelHash, whose last step the CPU does. */
  lc_memory digest_memory;
  /* The Merkle tree and ParallelHash: the length of a leaf or block, at least 1. 0 for all others.
   * Devices take messages in host memory only with leaves of up to 1 MiB; the CPU does others. */
  uint64_t leaf_bytes;
  /* LC_BLAKE3_KEYED: 32 bytes, host memory, copied, and wiped when the job has ended. NULL for all
   * others. */
  const void *key;
  size_t key_bytes;
  /* LC_BLAKE3_DERIVE_KEY: the context. ParallelHash: the customization string. Up to 2^20 bytes of
   * host memory, copied. */
  const void *text;
  size_t text_bytes;
  /* Not 0: the caller has set `device`. This distinguishes device 0 from a field left zero. */
  int has_device;
} lc_hash_job;

/* Runs a job and waits for it. `result` may be NULL; its operations are messages.
 *
 * With messages in host memory, and unless lc_options.verify is LC_VERIFY_OFF, the CPU computes the
 * digest of one short message again, and for each tree one leaf and the path from it to the root.
 * If they differ, the device is lost, and another or the CPU does the job again. With
 * LC_VERIFY_FULL it computes all digests again. Jobs in device memory are not verified, and neither
 * another device nor the CPU takes them over. */
LC_API lc_status lc_hash_run(lc_context *context, const lc_hash_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. The list of messages, the key and the text are copied before
 * it returns. Messages and digests must stay until the job has ended. */
LC_API lc_status lc_hash_submit(lc_context *context, const lc_hash_job *job,
                                const lc_completion *completion, lc_ticket **ticket);

#ifdef __cplusplus
}
#endif

#endif
