/*
 * lanecrypt/job.h: what jobs of every algorithm have in common: streams, results, completions and
 * tickets.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Lifetime: inputs and outputs must stay until the job has ended. The structs of the job and its
 *   list of messages may go when the call that submits it returns.
 * - A completion's callback runs on a thread of Lanecrypt's. It must not wait for another job,
 *   close the context or call exit(): see lc_completion.
 * - Fork: a child must not use its parent's tickets.
 * - Freeing a ticket does not cancel its job.
 *
 * Preconditions
 * - lc_ticket_free() is the last call on its ticket. All other functions may be called from several
 *   threads at once.
 *
 * Example: submit a job, do other work, wait.
 *
 *     #include <lanecrypt/lanecrypt.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       lc_context *context = NULL;
 *       lc_ticket *ticket = NULL;
 *       uint8_t digest[32];
 *       lc_result result = {.struct_size = sizeof result};
 *       lc_hash_message message = {.in = "abc", .length = 3, .digest = digest};
 *       lc_hash_job job = {.struct_size = sizeof job, .hash = LC_SHA_256, .messages = &message,
 *                          .message_count = 1, .message_size = sizeof message};
 *       if (lc_open(NULL, &context) != LC_OK ||
 *           lc_hash_submit(context, &job, NULL, &ticket) != LC_OK ||
 *           lc_ticket_wait(ticket, &result) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       printf("%d bytes on the CPU\n", (int)result.cpu_bytes);
 *       lc_ticket_free(ticket);
 *       lc_close(context);
 *       return 0;
 *     }
 */
#ifndef LANECRYPT_JOB_H
#define LANECRYPT_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's default streams, for lc_cipher_job.stream, as the driver's own handles (CU_STREAM_LEGACY
 * and CU_STREAM_PER_THREAD, or cudaStreamLegacy and cudaStreamPerThread). An application that names
 * no stream uses the first, unless it was compiled for the second. Each thread has a per-thread
 * stream of its own; a job uses that of the calling thread. */
#define LC_STREAM_LEGACY ((void *)1)
#define LC_STREAM_PER_THREAD ((void *)2)

/* Where a job ran, and how long its steps took. Times are in nanoseconds of the device's own clock,
 * summed over all pieces, and 0 if the device reports none. Pieces overlap, so the sum may exceed
 * the duration of the job. Two kinds of jobs are not timed: a job in device memory with a stream,
 * because that would delay it (record events of your own around it), and a few short messages whose
 * tags are in device memory. */
typedef struct lc_result {
  size_t struct_size;
  uint64_t device_bytes;
  uint64_t cpu_bytes;
  uint64_t upload_ns;
  uint64_t kernel_ns;
  uint64_t download_ns;
  /* Operations of RSA, SLH-DSA and ML-DSA. For RSA, `device_bytes` and `cpu_bytes` count the
   * inputs; for SLH-DSA and ML-DSA they count signatures and generated keys. */
  uint64_t device_operations;
  uint64_t cpu_operations;
  /* The part of `cpu_operations` whose result failed its check on the device and was computed again
   * on the CPU. If a job ends because of a one-time key (lc_slh_dsa_run()), operations that nobody
   * completed count too. */
  uint64_t failed_checks;
  /* Devices that had the job, or a part of it, and could not do it; others or the CPU did the rest.
   * A device without kernels for such a job does not count. */
  uint64_t failed_devices;
  /* RSA, SLH-DSA and ML-DSA, for the last launch with operations of this job: the number of
   * operations of all jobs in the launch, the time from the submission of the job to the launch,
   * and the time from the launch until the results were there. 0 if no device did any. The service
   * reports no number of operations (0); for its part the times are those until the last request
   * was sent, and from there to its answer. */
  uint64_t batch_operations;
  uint64_t waiting_ns;
  uint64_t device_ns;
  /* The part of `device_operations` that the service lanecryptd did (lc_options.service). If the
   * service failed, `failed_devices` counts it as one. */
  uint64_t service_operations;
} lc_result;

/* How the caller is notified that an asynchronous job has ended. */
typedef struct lc_completion {
  size_t struct_size;
  /* Called once, on a thread of Lanecrypt's (or as lc_ticket_notify() says), with no lock held. It
   * must be short. It may allocate, copy and free device memory and start other jobs, but no job
   * with a stream of device memory, and it may not capture one (LC_ERROR_ARGUMENT). It must not
   * wait for another job, or for a thread that is in lc_ticket_wait() for this one. It must not
   * close the context or call exit(). May be NULL. */
  void (*callback)(void *argument, lc_status status);
  void *argument;
  /* An eventfd(2) to which 1 is added; -1: none. The caller owns and closes it. 0, as in a
   * zero-initialised struct, means none too, unless descriptor 0 is an eventfd at that time. */
  int eventfd;
  /* Where the job's result is written before the callback is called and the eventfd is signalled;
   * NULL: nowhere. It must stay until then. The caller sets its `struct_size`. */
  lc_result *result;
  /* Jobs of RSA, ML-DSA and SLH-DSA: a number of the caller's for the party that the job belongs
   * to, or 0, if the program works for several. The CPU redoes what a device did wrong for one
   * owner after the other, so an owner waits for at most one operation of another. */
  uint64_t owner;
} lc_completion;

/* One asynchronous job, from its submission to lc_ticket_free(). */
typedef struct lc_ticket lc_ticket;

/* Returns LC_PENDING, or the status with which the job ended. Does not wait. */
LC_API lc_status lc_ticket_status(const lc_ticket *ticket);
/* As lc_ticket_status(), and stores the job's result in `*result` if the job has ended. `result`
 * may be NULL. Does not wait: the completion's callback may still be running. */
LC_API lc_status lc_ticket_result(const lc_ticket *ticket, lc_result *result);
/* Waits until the job has ended and its completion's callback has returned. Returns the status with
 * which the job ended; lc_last_error() explains it. `result` may be NULL. */
LC_API lc_status lc_ticket_wait(lc_ticket *ticket, lc_result *result);
/* As lc_ticket_wait(), but returns LC_PENDING after `nanoseconds` if the job has not ended. */
LC_API lc_status lc_ticket_wait_for(lc_ticket *ticket, uint64_t nanoseconds, lc_result *result);
/* Adds a completion to a job of any kind, in addition to earlier ones; each is used once. If the
 * job has ended and all earlier completions have been used, the calling thread runs this one before
 * the function returns. After an error the completion is not used.
 *
 * A job in device memory with a stream costs its caller less time if it is submitted without a
 * completion: the caller's own thread then starts it, and finishes it when it asks for the status
 * or waits. With a completion a thread of Lanecrypt's finishes it, and must be woken for that. */
LC_API lc_status lc_ticket_notify(lc_ticket *ticket, const lc_completion *completion);
/* Frees a ticket, at any time. A job in progress continues. NULL is allowed. */
LC_API void lc_ticket_free(lc_ticket *ticket);

#ifdef __cplusplus
}
#endif

#endif
