/*
 * lanecrypt/placement.h: calibration, and the choice between a device and the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Some calls block: lc_tune() for seconds, and one call of lc_cipher_choose(), lc_cipher_place()
 *   or lc_is_open() until a device is open. All other calls of these three return at once.
 * - lc_tune() writes a file under XDG_CACHE_HOME, which later processes of this user read.
 *
 * Preconditions
 * - Nothing else should run on the machine during lc_tune().
 *
 * Example: ask where to encrypt 16 MiB.
 *
 *     #include <lanecrypt/placement.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       lc_context *context = NULL;
 *       lc_cipher_question question = {.struct_size = sizeof question, .cipher = LC_AES_CTR,
 *                                      .direction = LC_ENCRYPT, .key_bytes = 32, .streams = 1,
 *                                      .bytes = 16 << 20};
 *       if (lc_open(NULL, &context) != LC_OK) return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       lc_choice choice = lc_cipher_choose(context, &question);
 *       puts(choice == LC_CHOICE_DEVICE ? "on a device" : "on the CPU");
 *       lc_close(context);
 *       return 0;
 *     }
 */
#ifndef LANECRYPT_PLACEMENT_H
#define LANECRYPT_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/cipher.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Calibration ------------------------------------------------------- */

/* How much lc_tune() measures. */
typedef enum lc_tune_depth {
  LC_TUNE_STORED = 0, /* nothing: what is known already */
  LC_TUNE_QUICK = 1,  /* what may gain with one message; about a second on a GPU */
  LC_TUNE_FULL = 2    /* every mode and key, ordinary and pinned memory; longer */
} lc_tune_depth;

/* One request in place, measured on a device and on the CPU while nothing else was running. Times
 * in nanoseconds. */
typedef struct lc_tune_point {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction; /* LC_ENCRYPT if both are the same */
  uint32_t key_bytes;
  int pinned;             /* 1: memory of lc_alloc_pinned(), 0: ordinary memory */
  uint32_t streams;       /* messages */
  uint64_t bytes;         /* of all messages */
  uint64_t device_ns;     /* on the device, until the call returned */
  uint64_t device_cpu_ns; /* CPU time of all threads of this process during that */
  uint64_t cpu_ns;        /* OpenSSL on one core */
  uint64_t cores_ns;      /* LC_CPU on several cores; 0: they do not share such work or memory */
} lc_tune_point;

/* Measures device `index` and the CPU, and stores the result under XDG_CACHE_HOME for this machine,
 * device and version. This context uses it at once, and so does every process that enumerates
 * devices later. Nothing else should run meanwhile. Calls `on_point` with each point, on the
 * calling thread; it may be NULL. If it returns a value other than 0, the call ends with
 * LC_ERROR_STOPPED, and nothing is stored. With LC_TUNE_STORED nothing is measured, and
 * LC_ERROR_UNSUPPORTED means that nothing is known. */
LC_API lc_status lc_tune(lc_context *context, uint32_t index, lc_tune_depth depth,
                         int (*on_point)(void *argument, const lc_tune_point *point),
                         void *argument);

/* ---- Choice ------------------------------------------------------------ */

typedef struct lc_cipher_question {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction;
  uint32_t key_bytes;
  int pinned;       /* 1: all of it is in memory of lc_alloc_pinned() */
  uint32_t streams; /* messages, of about the same length */
  uint64_t bytes;   /* of all messages */
} lc_cipher_question;

typedef enum lc_choice {
  LC_CHOICE_CPU = 0,
  LC_CHOICE_DEVICE = 1,
  LC_CHOICE_UNKNOWN = 2, /* nothing similar was measured here, or not yet */
  LC_CHOICE_CORES = 3    /* lc_run() with LC_CPU: several cores, in the CPU time of one */
} lc_choice;

/* Returns where a request should run, for a caller that can also do it with OpenSSL. The answer
 * depends on lc_options.prefer, on the kind and size of the request, on the measurements, and on
 * what waits for devices now. It is LC_CHOICE_CPU for an invalid question, and for less than 64
 * KiB.
 *
 * No device is touched before requests for 1 GiB have been asked about. Then other processes
 * enumerate the devices and measure what is not known (LC_TUNE_QUICK, stored), and nobody waits for
 * them. If a device is then sooner, one call waits until it is open. */
LC_API lc_choice lc_cipher_choose(lc_context *context, const lc_cipher_question *question);
/* As lc_cipher_choose(), and stores in `*device` the value for lc_cipher_job.device. With
 * LC_CHOICE_DEVICE it is that device, or LC_ANY_DEVICE if all selected devices share the request;
 * otherwise LC_CPU. `device` may be NULL. */
LC_API lc_choice lc_cipher_place(lc_context *context, const lc_cipher_question *question,
                                 uint32_t *device);

/* Returns 1 if a selected device is open and has passed its tests, otherwise 0. With `opens_now` 0
 * it touches nothing. Otherwise, if none is open, other processes enumerate the devices, and nobody
 * waits for them. A later call that finds them enumerated opens the first usable device. */
LC_API int lc_is_open(lc_context *context, int opens_now);

#ifdef __cplusplus
}
#endif

#endif
