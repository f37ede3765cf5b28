/*
 * lanecrypt/ml_dsa.h: ML-DSA signatures and keys (FIPS 204).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Read a verdict only after the job has ended.
 * - LC_MESSAGE_RAW and LC_MESSAGE_MU sign what the caller gives, without a context string:
 *   signatures of these kinds can be taken for signatures of other messages.
 * - Key lifetime: keys are copied into wiped memory, locked if the system permits it. The caller
 *   must wipe its own copy, and the seeds and private keys that a job makes.
 * - lc_ml_dsa_message.random replaces the random numbers: 32 bytes that repeat or can be predicted
 *   make a new key known.
 *
 * Preconditions
 * - Messages, contexts and random numbers are read before a call returns. Signatures, verdicts and
 *   new keys stay until the job has ended.
 * - Outputs of a job overlap nothing that it writes.
 *
 * Example: sign with the key of a seed.
 *
 *     #include <lanecrypt/ml_dsa.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       uint8_t seed[32] = {1}, signature[3309];  // a seed is 32 random bytes
 *       lc_context *context = NULL;
 *       lc_ml_dsa_key *key = NULL;
 *       lc_ml_dsa_parts parts = {.struct_size = sizeof parts, .set = LC_ML_DSA_65, .seed = seed};
 *       if (lc_open(NULL, &context) != LC_OK || lc_ml_dsa_key_new(&parts, &key) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       lc_ml_dsa_message message = {.key = key, .message = "text", .message_bytes = 4,
 *                                    .signature = signature, .signature_bytes = sizeof signature};
 *       lc_ml_dsa_job job = {.struct_size = sizeof job, .operation = LC_ML_DSA_SIGN,
 *                            .messages = &message, .message_count = 1,
 *                            .message_size = sizeof message};
 *       lc_status status = lc_ml_dsa_run(context, &job, NULL);
 *       lc_ml_dsa_key_free(key);
 *       lc_close(context);
 *       return status == LC_OK ? 0 : 1;
 *     }
 */
#ifndef LANECRYPT_ML_DSA_H
#define LANECRYPT_ML_DSA_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/core.h"
#include "lanecrypt/job.h"
#include "lanecrypt/slh_dsa.h" /* lc_message_encoding */

#ifdef __cplusplus
extern "C" {
#endif

/* The parameter sets of FIPS 204, table 1. */
typedef enum lc_ml_dsa_set {
  LC_ML_DSA_44 = 44,
  LC_ML_DSA_65 = 65,
  LC_ML_DSA_87 = 87
} lc_ml_dsa_set;

/* Byte strings whose length depends on the set. */
typedef enum lc_ml_dsa_part {
  LC_ML_DSA_SEED = 0,        /* xi of FIPS 204, section 3.6.3: 32 bytes in every set */
  LC_ML_DSA_PUBLIC_KEY = 1,  /* output of pkEncode (section 7.2): 1312, 1952, 2592 bytes */
  LC_ML_DSA_PRIVATE_KEY = 2, /* output of skEncode: 2560, 4032, 4896 bytes */
  LC_ML_DSA_SIGNATURE = 3    /* output of sigEncode: 2420, 3309, 4627 bytes */
} lc_ml_dsa_part;

/* Returns the length of a part in bytes; 0 if `set` is not a set or `part` not a part. */
LC_API size_t lc_ml_dsa_bytes(lc_ml_dsa_set set, lc_ml_dsa_part part);

/* An ML-DSA key. It belongs to no context. Many threads may use it, and so may a child of fork. */
typedef struct lc_ml_dsa_key lc_ml_dsa_key;

/* A key as bytes. Each part has the length that lc_ml_dsa_bytes() returns; NULL: not given. At
 * least one is given. */
typedef struct lc_ml_dsa_parts {
  size_t struct_size;
  lc_ml_dsa_set set;
  /* The key is the output of ML-DSA.KeyGen_internal for this seed (FIPS 204, algorithm 6). */
  const void *seed;
  const void *private_key;
  /* Required for a public key. */
  const void *public_key;
  /* The source of the random numbers of hedged signatures, a function as lc_rsa_generation.random.
   * lc_ml_dsa_run() and lc_ml_dsa_submit() call it on the thread that calls them. NULL: OpenSSL's
   * private random generator, in a library context of Lanecrypt's own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
} lc_ml_dsa_parts;

/* Copies a key into memory of the library, which is locked if the system permits it, and wiped when
 * the key is freed. The caller frees `*key` with lc_ml_dsa_key_free(). Parts that do not belong
 * together are LC_ERROR_ARGUMENT: the public key of a private key is computed, and t0 and tr must
 * agree with it. Takes a core some tenths of a millisecond for a private key. */
LC_API lc_status lc_ml_dsa_key_new(const lc_ml_dsa_parts *parts, lc_ml_dsa_key **key);
/* Frees a key, at any time. Jobs in progress keep what they need of it. NULL is allowed. */
LC_API void lc_ml_dsa_key_free(lc_ml_dsa_key *key);

typedef enum lc_ml_dsa_operation {
  LC_ML_DSA_SIGN = 0,    /* FIPS 204, algorithms 2 and 7 */
  LC_ML_DSA_VERIFY = 1,  /* algorithms 3 and 8 */
  LC_ML_DSA_GENERATE = 2 /* algorithms 1 and 6: a new key */
} lc_ml_dsa_operation;

/* One operation. All memory is host memory, at any alignment. */
typedef struct lc_ml_dsa_message {
  /* To sign: a private key. To verify: any key. To make a key: NULL. */
  const lc_ml_dsa_key *key;
  /* What is signed, by lc_ml_dsa_job.encoding. LC_MESSAGE_PURE: the message, which the context
   * string precedes (FIPS 204, algorithms 2 and 3). LC_MESSAGE_RAW: the message M' of algorithms 7
   * and 8. LC_MESSAGE_MU: mu itself, 64 bytes, which the caller has computed. It is hashed on the
   * calling thread before the call returns. */
  const void *message;
  size_t message_bytes;
  const void *context;
  size_t context_bytes; /* 0 to 255; 0 unless the encoding is LC_MESSAGE_PURE */
  /* 32 bytes, copied before the call returns. To sign: rnd of FIPS 204, or NULL: zeros if
   * lc_ml_dsa_job.deterministic is not 0, otherwise random numbers. To make a key: its seed, or
   * NULL: random numbers. */
  const void *random;
  /* To sign: where the signature is written. To verify: the signature. It must stay until the job
   * has ended, as must `public_key` and `private_key`. What a job writes must not overlap anything
   * else that it writes: LC_ERROR_ARGUMENT. */
  void *signature;
  /* To sign: the size of the buffer. To verify: the length of the signature; any length but that of
   * the set makes it wrong. */
  size_t signature_bytes;
  /* To make a key: where it is written. */
  void *public_key, *private_key;
} lc_ml_dsa_message;

/* Operations of one kind. To sign and to verify, the keys may be of any sets. */
typedef struct lc_ml_dsa_job {
  size_t struct_size;
  lc_ml_dsa_operation operation;
  /* LC_MESSAGE_PRE_HASH is LC_ERROR_UNSUPPORTED. */
  lc_message_encoding encoding;
  lc_ml_dsa_set set; /* of new keys */
  int deterministic; /* see lc_ml_dsa_message.random */
  /* The index of a device, selected or not (index 0 needs `has_device = 1`); LC_ANY_DEVICE, or 0
   * without `has_device`: Lanecrypt chooses; LC_CPU: no device. */
  uint32_t device;
  const lc_ml_dsa_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_ml_dsa_message) */
  /* To verify: a byte for each message: 1 if its signature is right and the job has ended with
   * LC_OK, and 0 in every other case. They overlap no message, context or signature. Otherwise
   * NULL. */
  uint8_t *verdicts;
  /* The source of the seeds of new keys, as lc_ml_dsa_parts.random is for signatures. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* Not 0: the caller has set `device`. This distinguishes device 0 from a field left zero. */
  int has_device;
} lc_ml_dsa_job;

/* Runs a job and waits for it. `result` may be NULL. A wrong signature is not an error: see
 * `verdicts`. A device verifies each signature that it made before it is released, and the CPU
 * makes again one that is wrong. */
LC_API lc_status lc_ml_dsa_run(lc_context *context, const lc_ml_dsa_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. Keys are kept. */
LC_API lc_status lc_ml_dsa_submit(lc_context *context, const lc_ml_dsa_job *job,
                                  const lc_completion *completion, lc_ticket **ticket);

/* Returns where a single signature ends sooner (with lc_options.service, whether by the service),
 * as lc_rsa_prefers_device() does for RSA. */
LC_API int lc_ml_dsa_prefers_device(lc_context *context, lc_ml_dsa_set set, uint32_t in_line);
/* Reports the caller's own time for a signature, as lc_rsa_report_cpu_time() does. */
LC_API void lc_ml_dsa_report_cpu_time(lc_context *context, lc_ml_dsa_set set, uint64_t nanoseconds);

#ifdef __cplusplus
}
#endif

#endif
