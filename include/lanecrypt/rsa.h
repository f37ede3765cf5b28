/*
 * lanecrypt/rsa.h: RSA operations and key generation (RFC 8017, FIPS 186-5).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - No padding: these are the primitives of RFC 8017, sections 5.1 and 5.2. A signature or a
 *   decryption is secure only with a padding of RFC 8017 (PSS, PKCS #1 v1.5, OAEP), which the
 *   caller adds, and removes in constant time.
 * - Key lifetime: keys are copied into wiped memory, locked if the system permits it. The caller
 *   must wipe its own copy.
 * - lc_rsa_key_new() does not test whether p and q are prime.
 * - lc_rsa_parts.random is called by lc_rsa_run() and lc_rsa_submit() on the calling thread, and
 * not after they have returned. lc_rsa_generation.random is called on several threads at once, and
 * not after lc_rsa_generate() has returned.
 *
 * Preconditions
 * - Every input and output has lc_rsa_key_bytes() bytes, big-endian, and each input is less than n.
 * - Inputs and outputs stay until the job has ended. Keys may be freed before that.
 *
 * Example: a public operation, 2^65537 mod n, with a modulus of 512 bits.
 *
 *     #include <lanecrypt/rsa.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *
 *     int main(void) {
 *       uint8_t n[64], e[3] = {1, 0, 1}, in[64] = {0}, out[64];
 *       lc_context *context = NULL;
 *       lc_rsa_key *key = NULL;
 *       lc_rsa_parts parts = {.struct_size = sizeof parts, .n = {n, 64}, .e = {e, 3}};
 *       memset(n, 0xff, sizeof n), in[63] = 2;  // a real n comes from a key file
 *       if (lc_open(NULL, &context) != LC_OK || lc_rsa_key_new(&parts, &key) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       lc_rsa_message message = {.key = key, .in = in, .out = out};
 *       lc_rsa_job job = {.struct_size = sizeof job, .operation = LC_RSA_PUBLIC,
 *                         .messages = &message, .message_count = 1,
 *                         .message_size = sizeof message};
 *       lc_status status = lc_rsa_run(context, &job, NULL);
 *       lc_rsa_key_free(key);
 *       lc_close(context);
 *       return status == LC_OK ? 0 : 1;
 *     }
 */
#ifndef LANECRYPT_RSA_H
#define LANECRYPT_RSA_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/core.h"
#include "lanecrypt/job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Keys -------------------------------------------------------------- */

/* An RSA key. It belongs to no context. Many threads may use it, and so may a child of fork. */
typedef struct lc_rsa_key lc_rsa_key;

/* An unsigned number, big-endian. Leading zeros are allowed. A length of 0: not given. */
typedef struct lc_number {
  const void *bytes;
  size_t length;
} lc_number;

/* A key as in RFC 8017, section 3. `n` and `e` alone are a public key. With the five numbers of the
 * second representation (p, q, dp = d mod p-1, dq = d mod q-1, qinv = 1/q mod p) it is a private
 * key of two primes. `d` may be given too, and is computed if it is not. */
typedef struct lc_rsa_parts {
  size_t struct_size;
  lc_number n, e;
  lc_number p, q, dp, dq, qinv;
  lc_number d;
  /* For a private key that the caller gives: the source of the random numbers that blind it, a
   * function as lc_rsa_generation.random. lc_rsa_run() and lc_rsa_submit() call it on the calling
   * thread, and never after they have returned: what it uses may be freed while the job is in
   * progress. It gives a seed and 4 bytes for each operation; SHAKE256 expands the seed to all
   * other random numbers of the job. If the keys of a job have different functions, their seeds are
   * used together. NULL: OpenSSL's private random generator, in a library context of Lanecrypt's
   * own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
} lc_rsa_parts;

/* Copies a key into memory of the library, which is locked if the system permits it, and wiped when
 * the key is freed. The caller frees `*key` with lc_rsa_key_free(). `n` has 512 to 16384 bits. `e`
 * is odd, at least 3 and less than n. LC_ERROR_ARGUMENT unless n = p q, dp e = 1 mod p-1, dq e = 1
 * mod q-1 and qinv q = 1 mod p. Whether p and q are prime is not tested. */
LC_API lc_status lc_rsa_key_new(const lc_rsa_parts *parts, lc_rsa_key **key);
/* Frees a key, at any time. Jobs in progress keep what they need of it. NULL is allowed. */
LC_API void lc_rsa_key_free(lc_rsa_key *key);
/* Returns the length of the modulus in bytes, which is that of every input and output. */
LC_API size_t lc_rsa_key_bytes(const lc_rsa_key *key);

/* ---- Operations -------------------------------------------------------- */

/* RFC 8017, sections 5.1 and 5.2: numbers without padding. */
typedef enum lc_rsa_operation {
  LC_RSA_PUBLIC = 0, /* in^e mod n: encryption, verification */
  LC_RSA_PRIVATE = 1 /* in^d mod n: decryption, signature; with CRT, blinded, in constant time, and
                      * checked against e before it is released */
} lc_rsa_operation;

/* One operation. `in` and `out` have lc_rsa_key_bytes(key) bytes each, big-endian, in host memory,
 * at any alignment. `in` is less than n. `out == in` works in place. Any other overlap of an output
 * with another output or an input of the job is LC_ERROR_ARGUMENT. */
typedef struct lc_rsa_message {
  const lc_rsa_key *key;
  const void *in;
  void *out;
} lc_rsa_message;

/* Operations of one kind, under any keys of any lengths. */
typedef struct lc_rsa_job {
  size_t struct_size;
  lc_rsa_operation operation;
  /* The index of a device, selected or not (index 0 needs `has_device = 1`); LC_ANY_DEVICE, or 0
   * without `has_device`: Lanecrypt chooses; LC_CPU: OpenSSL. A device takes keys of 1024 to 8192
   * bits with an e of at most 64 bits and, for private operations, primes of about equal length.
   * The CPU does operations of other keys; with LC_FALLBACK_NONE they make the job
   * LC_ERROR_UNSUPPORTED. */
  uint32_t device;
  const lc_rsa_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_rsa_message) */
  /* Not 0: the caller has set `device`. This distinguishes device 0 from a field left zero. */
  int has_device;
} lc_rsa_job;

/* Runs a job and waits for it. `result` may be NULL. LC_ERROR_ARGUMENT, and nothing is done, if an
 * input is not less than its n. LC_ERROR_ARGUMENT also if a private key proves wrong: a device or
 * the CPU gets a wrong result with it and its p or q is not prime, or it cannot be blinded; other
 * operations of the job may then have been done. LC_ERROR_INTERNAL, and nothing is done, if a key's
 * random function fails or gives the same byte over and over (lc_rsa_submit() returns it too). */
LC_API lc_status lc_rsa_run(lc_context *context, const lc_rsa_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. Messages are copied before it returns, and keys are kept.
 * Inputs and outputs must stay until the job has ended. */
LC_API lc_status lc_rsa_submit(lc_context *context, const lc_rsa_job *job,
                               const lc_completion *completion, lc_ticket **ticket);

/* Returns where a single private operation with a modulus of `bits` bits ends sooner, for a caller
 * that can also do it itself, as the provider can with OpenSSL. 1: on a device (with
 * lc_options.service: by the service), if the caller passes it to lc_rsa_run() or lc_rsa_submit()
 * now. 0: on the calling thread. The caller then passes the time that it took to
 * lc_rsa_report_cpu_time(), and later answers use it. `in_line` is the number of operations of this
 * thread that would wait for one another: 1, or more for a thread that runs several jobs in turn.
 *
 * When a device would first pay, other processes enumerate the devices, and the answer is 0 until
 * they have done so. One call then waits until the devices are open, half a second on an NVIDIA
 * card. */
LC_API int lc_rsa_prefers_device(lc_context *context, uint32_t bits, uint32_t in_line);
/* Reports that the caller did an operation itself in `nanoseconds` (0: unknown). */
LC_API void lc_rsa_report_cpu_time(lc_context *context, uint32_t bits, uint64_t nanoseconds);

/* ---- Key generation ---------------------------------------------------- */

/* The progress of lc_rsa_generate(). */
typedef struct lc_rsa_progress {
  size_t struct_size;
  uint64_t candidates; /* random numbers drawn for primes */
  uint64_t tests;      /* Miller-Rabin rounds done */
  uint64_t primes;     /* primes found */
  uint64_t keys;       /* keys finished */
} lc_rsa_progress;

/* New keys of one length and one e, each of two probable primes (FIPS 186-5, appendix A.1.3). Every
 * candidate is a new random number. Each prime passes the Miller-Rabin rounds of FIPS 186-5, table
 * B.1, and 8 rounds for keys below 2048 bits, which the table does not cover. The CPU checks the
 * finished key, with one more round for each prime: see docs/security.md. */
typedef struct lc_rsa_generation {
  size_t struct_size;
  uint32_t bits;      /* of the modulus: even, 1024 to 16384 */
  lc_number exponent; /* e: odd, from 65537 to 2^256 - 1. 65537 if it is not given */
  uint64_t count;     /* the number of keys to make */
  /* The index of a device: the call waits until it is open. Index 0 needs `has_device = 1`. LC_CPU:
   * no device. LC_ANY_DEVICE, or 0 without `has_device`: Lanecrypt chooses, and the CPU searches
   * until a device is open. A device takes keys of 1024 to 8192 bits. If it fails, another
   * continues, or the CPU if LC_FALLBACK_CPU permits it. With lc_options.service and LC_ANY_DEVICE
   * the service makes the keys, several at once, if `random` is NULL, because it draws from its own
   * generator. This process compares the numbers of each key with each other. With LC_VERIFY_FULL
   * it also makes the key again from its primes, with one more round for each. The CPU makes what
   * the service does not, if LC_FALLBACK_CPU permits it. */
  uint32_t device;
  /* Receives each finished key, on the thread that called lc_rsa_generate(); the first has number
   * 0. The key's numbers, including d, are big-endian, and are wiped after the callback returns.
   * Returns 1 to continue, or 0 to end with LC_ERROR_STOPPED. */
  int (*on_key)(void *argument, uint64_t number, const lc_rsa_parts *key);
  /* Receives the progress from time to time, on the same thread, and returns the same values. May
   * be NULL. */
  int (*on_progress)(void *argument, const lc_rsa_progress *progress);
  /* The source of all random bits, such as RAND_priv_bytes_ex() of a library context. It writes
   * `bytes` bytes to `to` and returns 1, or returns 0, and the call fails. Called on threads of the
   * library, several at once, and not after lc_rsa_generate() has returned. NULL: OpenSSL's private
   * random generator, in a library context of Lanecrypt's own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* Not 0: the caller has set `device`. This distinguishes device 0 from a field left zero. */
  int has_device;
} lc_rsa_generation;

/* Makes keys, and returns when they are made. `result` may be NULL. Its operations are Miller-Rabin
 * rounds, and for the service one for each key. Its `failed_checks` counts numbers that a device
 * called prime and the CPU found composite; that device is no longer used. */
LC_API lc_status lc_rsa_generate(lc_context *context, const lc_rsa_generation *generation,
                                 lc_result *result);

/* Returns 1 if lc_rsa_generate() with LC_ANY_DEVICE makes a single key sooner than the caller
 * itself. 1 if a device is open for it, or if a key of that length takes longer than opening one
 * (from 4096 bits on; the CPU's cores search meanwhile). When the answer was 0 eight times, one
 * call waits until a device is open. Always 0 unless the threads of a selected device share a
 * number, as on CUDA: elsewhere a thread by itself takes seconds to minutes to find a long prime,
 * and only many keys at once pay. With lc_options.service: whether the service is there and has a
 * device, for a key of that length or for one after eight others. */
LC_API int lc_rsa_generation_prefers_device(lc_context *context, uint32_t bits);

#ifdef __cplusplus
}
#endif

#endif
