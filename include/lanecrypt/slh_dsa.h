/*
 * lanecrypt/slh_dsa.h: SLH-DSA signatures and keys (FIPS 205), and draft parameter sets (SP
 * 800-230).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Keys of the draft's sets (`..._24`) may make 2^24 signatures in all. After more, others can
 *   forge signatures. Lanecrypt does not count them: the caller must, over all copies of the key
 *   and all programs.
 * - LC_MESSAGE_DIGEST: never sign digests from somebody who does not have the private key.
 *   Signatures of chosen digests reveal the key.
 * - Read a verdict only after the job has ended.
 * - Key lifetime: keys are copied into wiped memory, locked if the system permits it. The caller
 *   must wipe its own copy, and the private keys that lc_slh_dsa_generate() writes.
 * - A fault in a signature can reveal a one-time key. See lc_slh_dsa_run() for what is checked.
 *
 * Preconditions
 * - Messages, contexts and random numbers are read before a call returns. Signatures, verdicts and
 *   new keys stay until the job has ended.
 * - Outputs of a job overlap nothing that it reads or writes.
 *
 * Example: make a key, and sign with it.
 *
 *     #include <lanecrypt/slh_dsa.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       uint8_t bytes[64], signature[17088];  // 4 n, and lc_slh_dsa_signature_bytes()
 *       lc_context *context = NULL;
 *       lc_slh_dsa_key *key = NULL;
 *       lc_slh_dsa_generation generation = {.struct_size = sizeof generation, .count = 1,
 *                                           .set = LC_SLH_DSA_SHA2_128F, .keys = bytes};
 *       lc_slh_dsa_parts parts = {.struct_size = sizeof parts, .set = LC_SLH_DSA_SHA2_128F,
 *                                 .private_key = bytes, .private_key_bytes = sizeof bytes};
 *       if (lc_open(NULL, &context) != LC_OK ||
 *           lc_slh_dsa_generate(context, &generation, NULL) != LC_OK ||
 *           lc_slh_dsa_key_new(&parts, &key) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       lc_slh_dsa_message message = {.key = key, .message = "text", .message_bytes = 4,
 *                                     .signature = signature, .signature_bytes = sizeof signature};
 *       lc_slh_dsa_job job = {.struct_size = sizeof job, .operation = LC_SLH_DSA_SIGN,
 *                             .messages = &message, .message_count = 1,
 *                             .message_size = sizeof message};
 *       lc_status status = lc_slh_dsa_run(context, &job, NULL);
 *       lc_slh_dsa_key_free(key);
 *       lc_close(context);
 *       return status == LC_OK ? 0 : 1;
 *     }
 */
#ifndef LANECRYPT_SLH_DSA_H
#define LANECRYPT_SLH_DSA_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/core.h"
#include "lanecrypt/job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Parameter sets ---------------------------------------------------- */

/* The parameter sets of FIPS 205, table 2. n is the length of a hash: 16 bytes in sets with 128 in
 * their name, 24 with 192, 32 with 256. Sets with "s" have small signatures, sets with "f" make
 * them fast.
 *
 * DRAFT: the sets whose names end in "24" are those of SP 800-230, initial public draft of April
 * 2026. If the final text has other sets, or other numbers in them, these sets go, and their
 * signatures verify no more. A key may make 2^24 signatures: see the hazards above. A device makes
 * keys, in 170 MiB of its memory with 128 in the name, 190 with 192 and 415 with 256, and
 * signatures, in at most 35 MiB with a tree and otherwise in about as much. A CPU would take
 * minutes, so on the CPU both end with LC_ERROR_UNSUPPORTED; it does verify. */
typedef enum lc_slh_dsa_set {
  LC_SLH_DSA_SHA2_128S = 0,
  LC_SLH_DSA_SHA2_128F = 1,
  LC_SLH_DSA_SHA2_192S = 2,
  LC_SLH_DSA_SHA2_192F = 3,
  LC_SLH_DSA_SHA2_256S = 4,
  LC_SLH_DSA_SHA2_256F = 5,
  LC_SLH_DSA_SHAKE_128S = 6,
  LC_SLH_DSA_SHAKE_128F = 7,
  LC_SLH_DSA_SHAKE_192S = 8,
  LC_SLH_DSA_SHAKE_192F = 9,
  LC_SLH_DSA_SHAKE_256S = 10,
  LC_SLH_DSA_SHAKE_256F = 11,
  LC_SLH_DSA_SHA2_128_24 = 32,
  LC_SLH_DSA_SHA2_192_24 = 33,
  LC_SLH_DSA_SHA2_256_24 = 34,
  LC_SLH_DSA_SHAKE_128_24 = 35,
  LC_SLH_DSA_SHAKE_192_24 = 36,
  LC_SLH_DSA_SHAKE_256_24 = 37
} lc_slh_dsa_set;

/* Returns a name such as "SLH-DSA-SHA2-128s", in static storage; NULL if `set` is not a set. */
LC_API const char *lc_slh_dsa_name(lc_slh_dsa_set set);
/* Returns n. A public key has 2 n bytes, a private key 4 n, and the seeds of a new key 3 n. 0 if
 * `set` is not a set. */
LC_API size_t lc_slh_dsa_hash_bytes(lc_slh_dsa_set set);
/* Returns the length of every signature in bytes; 0 if `set` is not a set. */
LC_API size_t lc_slh_dsa_signature_bytes(lc_slh_dsa_set set);

/* DRAFT: returns the bytes of a key's tree (lc_slh_dsa_parts.tree); 0 for a set of FIPS 205, which
 * keeps none, and if `set` is not a set. */
LC_API size_t lc_slh_dsa_tree_bytes(lc_slh_dsa_set set);

/* ---- Keys -------------------------------------------------------------- */

/* An SLH-DSA key. It belongs to no context. Many threads may use it, and so may a child of fork. */
typedef struct lc_slh_dsa_key lc_slh_dsa_key;

/* A key as bytes (FIPS 205, section 9.1). */
typedef struct lc_slh_dsa_parts {
  size_t struct_size;
  lc_slh_dsa_set set;
  /* SK.seed, SK.prf, PK.seed and PK.root, 4 n bytes; NULL with 0 bytes for a public key. */
  const void *private_key;
  size_t private_key_bytes;
  /* PK.seed and PK.root, 2 n bytes. May be NULL with 0 bytes if a private key is given; if both are
   * given, they must agree. */
  const void *public_key;
  size_t public_key_bytes;
  /* The source of the random numbers of hedged signatures, a function as lc_rsa_generation.random.
   * lc_slh_dsa_run() and lc_slh_dsa_submit() call it on the thread that calls them. NULL: OpenSSL's
   * private random generator, in a library context of Lanecrypt's own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* DRAFT, for a private key: the upper levels of its tree, as lc_slh_dsa_generation.trees has
   * them, lc_slh_dsa_tree_bytes(). With them a signature takes a fraction of the hashes; its bytes
   * are the same. They are public, are copied, and must lead to PK.root. NULL with 0 bytes: each
   * signature computes the whole tree. */
  const void *tree;
  size_t tree_bytes;
} lc_slh_dsa_parts;

/* Copies a key into memory of the library, which is locked if the system permits it, and wiped when
 * the key is freed. The caller frees `*key` with lc_slh_dsa_key_free(). Does not test whether
 * PK.root belongs to the seeds: if it does not, no signature is made. A tree that does not lead to
 * PK.root is LC_ERROR_ARGUMENT. */
LC_API lc_status lc_slh_dsa_key_new(const lc_slh_dsa_parts *parts, lc_slh_dsa_key **key);
/* Frees a key, at any time. Jobs in progress keep what they need of it. NULL is allowed. */
LC_API void lc_slh_dsa_key_free(lc_slh_dsa_key *key);

/* ---- Signing and verification ------------------------------------------ */

typedef enum lc_slh_dsa_operation {
  LC_SLH_DSA_SIGN = 0,
  LC_SLH_DSA_VERIFY = 1,
  LC_SLH_DSA_GENERATE = 2 /* for lc_slh_dsa_prefers_device(); not an operation of a job */
} lc_slh_dsa_operation;

/* How a message becomes what is signed, for SLH-DSA and ML-DSA. */
typedef enum lc_message_encoding {
  /* FIPS 205, algorithms 22 and 24: the context string, then the message. */
  LC_MESSAGE_PURE = 0,
  /* FIPS 205, algorithms 23 and 25: the context string, the name of the hash lc_slh_dsa_job.hash,
   * and the digest of the message, which Lanecrypt computes. */
  LC_MESSAGE_PRE_HASH = 1,
  /* FIPS 205, algorithms 19 and 20, the internal interface: the message alone, no context. */
  LC_MESSAGE_RAW = 2,
  /* ML-DSA only: see lc_ml_dsa_message. */
  LC_MESSAGE_MU = 3,
  /* SLH-DSA only, to sign: what the caller computed from the message by FIPS 205, algorithm 19,
   * lines 3 to 5: R, n bytes, and then the digest of m bytes (table 2: 30, 34, 39, 42, 47 or 49 for
   * 128s, 128f, 192s, 192f, 256s and 256f; 21, 32 or 41 for the draft's sets). SK.prf is then not
   * used. For a caller that has SK.prf and the message elsewhere. The digest must be H_msg() of an
   * R that nobody could predict: see the hazards above. */
  LC_MESSAGE_DIGEST = 4
} lc_message_encoding;

/* The approved hash functions of pre-hash signatures. The number is the last arc of the hash's
 * object identifier, 2.16.840.1.101.3.4.2. SHAKE128 has 32 bytes of output here, SHAKE256 64. */
typedef enum lc_pre_hash {
  LC_PRE_HASH_NONE = 0,
  LC_PRE_HASH_SHA2_256 = 1,
  LC_PRE_HASH_SHA2_384 = 2,
  LC_PRE_HASH_SHA2_512 = 3,
  LC_PRE_HASH_SHA2_224 = 4,
  LC_PRE_HASH_SHA2_512_224 = 5,
  LC_PRE_HASH_SHA2_512_256 = 6,
  LC_PRE_HASH_SHA3_224 = 7,
  LC_PRE_HASH_SHA3_256 = 8,
  LC_PRE_HASH_SHA3_384 = 9,
  LC_PRE_HASH_SHA3_512 = 10,
  LC_PRE_HASH_SHAKE_128 = 11,
  LC_PRE_HASH_SHAKE_256 = 12
} lc_pre_hash;

/* One operation. All memory is host memory, at any alignment. Everything but the signature is read
 * before the call returns. */
typedef struct lc_slh_dsa_message {
  const lc_slh_dsa_key *key; /* to sign, a private key */
  const void *message;
  size_t message_bytes; /* any number, including 0 */
  const void *context;  /* the context string */
  size_t context_bytes; /* 0 to 255; 0 with LC_MESSAGE_RAW and LC_MESSAGE_DIGEST */
  /* To sign: n bytes used instead of random numbers (addrnd of FIPS 205), or NULL. They are copied
   * before the call returns. NULL with LC_MESSAGE_DIGEST. */
  const void *additional_random;
  /* To sign: where the signature is written, lc_slh_dsa_signature_bytes(). To verify: the
   * signature. It must stay until the job has ended. Signatures that a job makes must not overlap
   * each other, or a message, a context or random numbers of the job: LC_ERROR_ARGUMENT. */
  void *signature;
  /* To sign: the size of the buffer. To verify: the length of the signature; any length but that of
   * the set makes it wrong. */
  size_t signature_bytes;
} lc_slh_dsa_message;

/* Signatures to make or to verify, under any keys of any sets. */
typedef struct lc_slh_dsa_job {
  size_t struct_size;
  lc_slh_dsa_operation operation;
  lc_message_encoding encoding;
  lc_pre_hash hash; /* with LC_MESSAGE_PRE_HASH, else LC_PRE_HASH_NONE */
  /* To sign: 1 for deterministic signatures, 0 for hedged ones with new random numbers. Ignored
   * with `additional_random` and with LC_MESSAGE_DIGEST. */
  int deterministic;
  /* The index of a device, selected or not (index 0 needs `has_device = 1`); LC_ANY_DEVICE, or 0
   * without `has_device`: Lanecrypt chooses; LC_CPU: no device. */
  uint32_t device;
  const lc_slh_dsa_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_slh_dsa_message) */
  /* To verify: a byte for each message: 1 if its signature is right and the job has ended with
   * LC_OK, and 0 in every other case. They overlap no message, context or signature. To sign:
   * NULL. */
  uint8_t *verdicts;
  /* Not 0: the caller has set `device`. This distinguishes device 0 from a field left zero. */
  int has_device;
} lc_slh_dsa_job;

/* Runs a job and waits for it. `result` may be NULL. A wrong signature is not an error: see
 * `verdicts`. Messages are hashed on the calling thread.
 *
 * Every signature is verified before it is released, whether a device or the CPU made it; the CPU
 * makes again one that a device made wrong. If a root that is signed differs from the one that the
 * same one-time key has signed before, one of both was a fault. The CPU then makes the signature
 * again, and if it finds that difference too, the job ends with LC_ERROR_DEVICE, because a second
 * signature would reveal that one-time key. The same happens if the service (lc_options.service)
 * reports that it has found one. See docs/security.md. If a job of signatures fails, any of them
 * may have been written, complete. */
LC_API lc_status lc_slh_dsa_run(lc_context *context, const lc_slh_dsa_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. Messages are hashed before it returns, and keys are kept. */
LC_API lc_status lc_slh_dsa_submit(lc_context *context, const lc_slh_dsa_job *job,
                                   const lc_completion *completion, lc_ticket **ticket);

/* ---- Key generation ---------------------------------------------------- */

/* New keys of one set (FIPS 205, algorithm 21). */
typedef struct lc_slh_dsa_generation {
  size_t struct_size;
  lc_slh_dsa_set set;
  uint32_t device; /* as in lc_slh_dsa_job */
  size_t count;    /* of keys */
  /* SK.seed, SK.prf and PK.seed of each key, 3 n bytes, one key after the other. NULL: random
   * numbers. They are copied before the call returns. */
  const void *seeds;
  /* Where the private keys are written, 4 n bytes each. They must not overlap `trees`. */
  void *keys;
  /* The source of random numbers, as lc_rsa_generation.random, called on the calling thread. NULL:
   * as in lc_slh_dsa_parts. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* DRAFT: where the trees of the keys are written, lc_slh_dsa_tree_bytes() each, one after the
   * other: the nodes of height 9 from the left, n bytes each. NULL: nowhere, and required for a set
   * of FIPS 205. */
  void *trees;
  /* Not 0: the caller has set `device`. This distinguishes device 0 from a field left zero. */
  int has_device;
} lc_slh_dsa_generation;

/* Makes keys, and returns when they are made. `result` may be NULL. The CPU makes the first keys of
 * a device again, and some later, or all with LC_VERIFY_FULL; if a key differs, the device is lost.
 * Of a key of a draft's set the CPU computes again one of 4096 or 8192 parts, chosen at random, and
 * all levels above the parts. After an error, any of the keys may have been written, complete. */
LC_API lc_status lc_slh_dsa_generate(lc_context *context, const lc_slh_dsa_generation *generation,
                                     lc_result *result);
/* Starts to make keys, as lc_submit() does. */
LC_API lc_status lc_slh_dsa_submit_generation(lc_context *context,
                                              const lc_slh_dsa_generation *generation,
                                              const lc_completion *completion, lc_ticket **ticket);

/* ---- Placement --------------------------------------------------------- */

/* Returns where a single operation ends sooner, as lc_rsa_prefers_device() does for RSA. With
 * lc_options.service, for LC_SLH_DSA_SIGN with a set of FIPS 205: whether by the service. */
LC_API int lc_slh_dsa_prefers_device(lc_context *context, lc_slh_dsa_set set,
                                     lc_slh_dsa_operation operation, uint32_t in_line);
/* Reports the caller's own time for an operation, as lc_rsa_report_cpu_time() does. */
LC_API void lc_slh_dsa_report_cpu_time(lc_context *context, lc_slh_dsa_set set,
                                       lc_slh_dsa_operation operation, uint64_t nanoseconds);

#ifdef __cplusplus
}
#endif

#endif
