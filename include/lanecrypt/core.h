/*
 * lanecrypt/core.h: versions, status values, contexts, options, devices and counters. Every other
 * header of the library includes this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Threads: every function of the library is thread-safe, also for one context. lc_close() must be
 *   the last call on its context, and lc_ticket_free() the last call on its ticket.
 * - Fork: a child process starts with no device open, and opens devices itself when it needs them.
 *   It must not use the tickets and the memory (memory.h) of its parent. Keys of RSA, SLH-DSA and
 *   ML-DSA may be used.
 * - End of the process: exit() stops a context that is still open. This is safe only if no thread
 *   is inside the library at that time: see lc_close(). A program that calls OPENSSL_cleanup() must
 *   call lc_close() before it.
 * - Zero is a value: a zero-initialised lc_options permits the CPU as a fallback and verifies only
 *   samples of a device's output. A zero-initialised lc_cipher_job names AES-ECB.
 *
 * Preconditions
 * - A struct with the member `struct_size`: set this member to sizeof the struct, and all members
 *   that you do not need to zero, as `{.struct_size = sizeof job}` does. Zero means "not given",
 *   except for an enum whose first value is 0. By the size the library knows which members a
 *   program has that was built against an older header. Programs built against version 0.1 run with
 *   this library, and each of their structs means what it meant in 0.1.
 * - Errors: if a function that returns lc_status fails, lc_last_error() has a sentence about it for
 *   people. The library prints nothing and never calls abort().
 *
 * Example: list the devices of this machine.
 *
 *     #include <lanecrypt/core.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       lc_context *context = NULL;
 *       uint32_t count = 0;
 *       if (lc_open(NULL, &context) != LC_OK || lc_device_count(context, &count) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       for (uint32_t i = 0; i < count; ++i) {
 *         lc_device_info info = {.struct_size = sizeof info};
 *         if (lc_device_get(context, i, &info) == LC_OK) printf("%s %s\n", info.id, info.name);
 *       }
 *       lc_close(context);
 *       return 0;
 *     }
 */
#ifndef LANECRYPT_CORE_H
#define LANECRYPT_CORE_H

#include <stddef.h>
#include <stdint.h>

#define LC_VERSION_MAJOR 0
#define LC_VERSION_MINOR 1
#define LC_VERSION_PATCH 0
#define LC_VERSION_TEXT "0.1.0"

#if defined(__GNUC__)
#define LC_API __attribute__((visibility("default")))
#else
#define LC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version and errors ------------------------------------------------ */

/* The outcome of a call or of a job. The numbers are part of the ABI. */
typedef enum lc_status {
  LC_OK = 0,
  LC_PENDING = 1,           /* the ticket's job has not ended yet */
  LC_ERROR_ARGUMENT = 2,    /* an argument is invalid; nothing was done */
  LC_ERROR_UNSUPPORTED = 3, /* a valid request that this library or device does not offer */
  LC_ERROR_MEMORY = 4,      /* out of host or device memory */
  LC_ERROR_NO_DEVICE = 5,   /* no usable device, and the CPU was not permitted */
  LC_ERROR_DEVICE = 6,      /* the device failed, and nothing else could take over */
  LC_ERROR_SELF_TEST = 7,   /* the device failed a known-answer test */
  LC_ERROR_INTERNAL = 8,    /* a bug in Lanecrypt */
  LC_ERROR_TAG = 9,         /* a tag is wrong; no plaintext was released */
  LC_ERROR_STOPPED = 10     /* a callback of the caller or exit() stopped it */
} lc_status;

/* Returns "MAJOR.MINOR.PATCH" of the running library, in static storage. */
LC_API const char *lc_version(void);
/* Returns the message of the last call of this thread that failed, or "" if none failed. The text
 * is valid until the thread's next call, and never contains secret data. */
LC_API const char *lc_last_error(void);
/* Returns a fixed short text for `status`, such as "no usable device", in static storage. */
LC_API const char *lc_status_text(lc_status status);

/* ---- Contexts ---------------------------------------------------------- */

/* A set of devices, their queues and their memory. */
typedef struct lc_context lc_context;

/* What happens to a job that no device can do. */
typedef enum lc_fallback {
  LC_FALLBACK_CPU = 0, /* OpenSSL does the job, or the rest of it, on the CPU */
  LC_FALLBACK_NONE = 1 /* the job fails */
} lc_fallback;

/* How much of a device's output the CPU computes again. If a result differs, the device is lost
 * (lc_device_info.reason says why), and other devices or the CPU redo what it did for the jobs in
 * progress. They cannot redo a message that is processed in place if some of its pieces were
 * already found right: their input is overwritten. Jobs whose input is in device memory are not
 * verified.
 *
 * Signatures do not depend on this setting. RSA: the device checks each private result against the
 * public exponent, and the CPU checks one result of each batch. SLH-DSA and ML-DSA: the device
 * verifies each signature, and the CPU verifies one of each batch. */
typedef enum lc_verify {
  /* Up to four random blocks of each chunk of up to 16 MiB that comes back, and one block of a
   * chunk below 1 MiB. Tags are computed again only if the device found them wrong. */
  LC_VERIFY_SAMPLED = 0,
  LC_VERIFY_OFF = 1,
  /* Everything, including tags except those of CCM. Slower than the CPU alone. */
  LC_VERIFY_FULL = 2
} lc_verify;

/* What lc_cipher_choose() optimises, and how data are moved on this machine. */
typedef enum lc_prefer {
  LC_PREFER_SPEED = 0, /* what ends sooner */
  /* What takes less CPU time, unless it takes more than twice as long. */
  LC_PREFER_OFFLOAD = 1
} lc_prefer;

/* Options of lc_open(). The strings are copied. */
typedef struct lc_options {
  size_t struct_size;
  /* The devices to use, in order of preference, separated by commas: names as in lc_device_info.id,
   * or an API ("cuda", "opencl", "gl", "host") for all of its devices. "none": no device. NULL: the
   * environment variable LANECRYPT_DEVICES; if it is not set, every GPU through its best API. */
  const char *devices;
  lc_fallback fallback;
  /* Upper limit of the pinned host memory, in bytes, that the queues of one device hold. 0: 256
   * MiB. */
  uint64_t pinned_bytes;
  lc_verify verify;
  /* Timeout in milliseconds: a device that has work and completes nothing for this long is lost. 0:
   * one minute, or ten minutes for a device that is not a GPU. Time spent waiting in the caller's
   * stream does not count. Large batches of RSA have longer. */
  uint32_t time_limit_ms;
  lc_prefer prefer;
  /* The number of primes, at most 65536, that may be kept for later RSA keys, over all lengths and
   * exponents. A device that searches for a key then finds more primes at the same time. Each prime
   * is used once. If this is not 0, primes are also kept for callers with a random function of
   * their own (lc_rsa_generation.random); all of these functions must then draw from one source. 0:
   * the environment variable LANECRYPT_PRIME_POOL, and only for callers without a random function;
   * none if it is not set. */
  uint32_t prime_pool;
  /* The number of cores that may work at one job of the CPU (LC_CPU), without the caller's own core
   * if the caller waits. 0: the library's choice, at most 8. */
  uint32_t cores;
  /* Where private RSA operations, RSA key generation, and signatures of ML-DSA and SLH-DSA run if
   * the job's device is LC_ANY_DEVICE. NULL or "off": on the devices above. Otherwise in the
   * service lanecryptd of this machine, and no device is opened for these operations:
   * - "auto": the service at /run/lanecrypt/socket or $XDG_RUNTIME_DIR/lanecrypt/socket.
   * - an absolute path: the service at this socket.
   * - "require": as "auto", and an operation that the service does not do is an error.
   * Any other text is LC_ERROR_ARGUMENT.
   *
   * A socket is used only if it and all folders above it belong to root, this user or
   * `service_owner`, nobody else may write to these folders (unless they are sticky, as /tmp is),
   * and root or the socket's owner listens there.
   *
   * The CPU does what the service does not do because it is absent, full or failed, if
   * LC_FALLBACK_CPU permits it. Nothing is lost if the service ends, or is silent for 5 seconds.
   * Later operations try it again, first after a quarter of a second. A call that waits does all of
   * this on the caller's thread. For submitted jobs a thread of the context reads the answers.
   *
   * Keys are copied to the service, which checks them as lc_rsa_key_new() and the others do, and
   * erases them when they are freed. It gets all of an SLH-DSA key but SK.prf. Messages of ML-DSA
   * and SLH-DSA are hashed in this process, and the random numbers of hedged signatures are drawn
   * here. For RSA the service draws the blinding values from its own generator, whatever
   * lc_rsa_parts.random is. It tests its devices for SLH-DSA when the first key arrives; until then
   * it may have no device for it. With LC_VERIFY_FULL this process also checks each result and
   * signature.
   *
   * Public RSA operations, verification, key generation of ML-DSA and SLH-DSA, and jobs with keys
   * of a draft's parameter sets never use the service. For RSA keys see lc_rsa_generation. */
  const char *service;
  /* Another user, by name or number, whose socket is used too. NULL: none. A name is looked up when
   * the first operation needs the service. */
  const char *service_owner;
} lc_options;

/* Opens a context and stores it in `*context`. `options` may be NULL. Opens no device and starts no
 * thread: the first call that needs one does. That call also reports a name in `options->devices`
 * that is not a device of this machine. A malformed list is LC_ERROR_ARGUMENT here. */
LC_API lc_status lc_open(const lc_options *options, lc_context **context);
/* Waits for the jobs in progress, wipes secrets and frees the context. NULL is allowed. Call it
 * before OPENSSL_cleanup().
 *
 * exit() and the return from main() stop a context that is still open, before libcrypto and the
 * drivers end. They wait for what a device has begun. All other jobs end with LC_ERROR_STOPPED;
 * their output is complete, partial or untouched. This is safe only if no thread is inside a
 * function of this library: such a thread may crash the process, as it may in libcrypto. lc_close()
 * after these threads have ended is always safe. */
LC_API void lc_close(lc_context *context);

/* ---- Devices ----------------------------------------------------------- */

/* Any device of the right kind: Lanecrypt chooses. A job whose `device` and `has_device` are 0
 * means the same. To name device 0, set `has_device` to 1. */
#define LC_ANY_DEVICE UINT32_MAX
/* The CPU alone, to which jobs fall back. */
#define LC_CPU (UINT32_MAX - 1)

typedef enum lc_device_state {
  LC_DEVICE_UNTRIED = 0,  /* found, not used yet */
  LC_DEVICE_READY = 1,    /* its self-test passed */
  LC_DEVICE_UNUSABLE = 2, /* cannot be used; see `reason` */
  LC_DEVICE_LOST = 3      /* failed in use, and is no longer used */
} lc_device_state;

typedef struct lc_device_info {
  size_t struct_size;
  char id[32];            /* "cuda:0", "opencl:1", "host:0" */
  char api[16];           /* "cuda", "opencl", "gl", "host" */
  char name[128];         /* the model, as its driver names it */
  char driver[128];       /* version of the driver or platform */
  char reason[256];       /* why it is unusable or lost, if only for one algorithm; "" otherwise */
  uint64_t memory_bytes;  /* all device memory. OpenGL does not report it: there the
                           * largest single allocation, and 0 before use */
  uint32_t compute_units; /* multiprocessors; threads on the host device */
  int is_gpu;             /* 0: it computes on the CPU, or is the emulator */
  int selected;           /* 1: jobs may go there */
  lc_device_state state;
  /* The state for RSA, whose kernels are loaded when they are first needed. A device may be lost
   * only for RSA, or only for RSA key generation. */
  lc_device_state rsa_state;
  char pci_address[16]; /* "0000:3b:00.0"; "" if the driver does not report it */
  /* As `rsa_state`, for SLH-DSA and for ML-DSA. */
  lc_device_state slh_dsa_state;
  lc_device_state ml_dsa_state;
} lc_device_info;

/* Stores in `*count` the number of devices of the APIs that lc_options.devices names, selected or
 * not, usable or not. The first call enumerates them, in other processes. A driver is loaded into
 * this process only when one of its devices is used. */
LC_API lc_status lc_device_count(lc_context *context, uint32_t *count);
/* Describes device `index`, from 0, in `*info`. Selected devices come first, in order of
 * preference. */
LC_API lc_status lc_device_get(lc_context *context, uint32_t index, lc_device_info *info);
/* Opens device `index`, selected or not, and runs its known-answer tests now instead of at its
 * first job. LC_ERROR_SELF_TEST, LC_ERROR_NO_DEVICE or LC_ERROR_DEVICE: it cannot be used. */
LC_API lc_status lc_device_test(lc_context *context, uint32_t index);

/* ---- Counters ---------------------------------------------------------- */

typedef struct lc_counters {
  size_t struct_size;
  uint64_t jobs;     /* jobs of which at least one byte ran here */
  uint64_t bytes;    /* bytes that ran here */
  uint64_t launches; /* kernels started; 0 for the CPU */
  uint64_t failures; /* launches, copies, self-tests or checks that failed */
  /* Operations of RSA, SLH-DSA and ML-DSA that ran here, and rounds of primality tests. */
  uint64_t operations;
} lc_counters;

/* Stores in `*counters` what device `index`, or LC_CPU, has done since the context was opened.
 * Self-tests count only if they fail. */
LC_API lc_status lc_counters_get(lc_context *context, uint32_t index, lc_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
