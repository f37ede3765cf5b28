/*
 * Lanecrypt: AES and RSA on graphics processors, in bulk. The public C ABI.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Threads: every function may be called from any thread, except that
 * lc_close() must be the last call on its context and lc_ticket_free() the
 * last on its ticket.
 * Errors: a function that returns lc_status leaves a sentence for a person in
 * lc_last_error() when it fails. Nothing is printed, nothing aborts.
 * Structs that begin with struct_size: set it to sizeof the struct; fields
 * that a later version adds are then known to be absent.
 * Fork: a child of fork starts with no device open; tickets and memory of the
 * parent must not be used there.
 */
#ifndef LANECRYPT_LANECRYPT_H
#define LANECRYPT_LANECRYPT_H

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

/* What became of a call or of a job. The numbers are part of the ABI. */
typedef enum lc_status {
  LC_OK = 0,
  LC_PENDING = 1,           /* a ticket's job is still under way */
  LC_ERROR_ARGUMENT = 2,    /* an argument is wrong; nothing was done */
  LC_ERROR_UNSUPPORTED = 3, /* right in itself, but not offered here */
  LC_ERROR_MEMORY = 4,      /* host or device memory ran out */
  LC_ERROR_NO_DEVICE = 5,   /* no usable device, and the CPU was not allowed */
  LC_ERROR_DEVICE = 6,      /* the device failed and nothing else took over */
  LC_ERROR_SELF_TEST = 7,   /* the device gave wrong answers to known questions */
  LC_ERROR_INTERNAL = 8,    /* a fault of Lanecrypt's own */
  LC_ERROR_TAG = 9,         /* a tag is wrong: no plaintext was given out */
  LC_ERROR_STOPPED = 10     /* a callback of the caller's asked for it, or exit() */
} lc_status;

/* A set of devices, their queues and their memory. */
typedef struct lc_context lc_context;
/* One asynchronous job, from lc_submit() to lc_ticket_free(). */
typedef struct lc_ticket lc_ticket;

/* ---- Version and errors ------------------------------------------------ */

/* "MAJOR.MINOR.PATCH" of the library that is running; static storage. */
LC_API const char *lc_version(void);
/* The sentence for the last failing call of this thread; "" when there was
 * none. Valid until this thread's next call. Never holds secret data. */
LC_API const char *lc_last_error(void);
/* A fixed short text for a status, such as "no usable device". */
LC_API const char *lc_status_text(lc_status status);

/* ---- Contexts ---------------------------------------------------------- */

/* What may run on the CPU, by OpenSSL, when no device can do a job. */
typedef enum lc_fallback {
  LC_FALLBACK_CPU = 0, /* the job, or what is left of it, runs on the CPU */
  LC_FALLBACK_NONE = 1 /* the job fails instead */
} lc_fallback;

/* Whether what devices give back is computed again on the CPU. Where it
 * differs, the device is lost, with the reason in lc_device_info, and what it
 * did of the jobs under way is done again by others: but not of messages in
 * place, whose input is gone where pieces were found right before. Jobs in
 * device memory are not looked at. Of RSA each private result is checked on the
 * device against the public exponent, and one of a batch looked at, always. */
typedef enum lc_verify {
  /* Of every chunk that comes back (up to 16 MiB), up to four blocks chosen at
   * random; one where it is below 1 MiB. Of tags only those that are found wrong
   * are looked at. Of a batch of RSA one result. */
  LC_VERIFY_SAMPLED = 0,
  LC_VERIFY_OFF = 1,
  LC_VERIFY_FULL = 2 /* all of it, tags too, but not those of CCM: slower than the CPU alone */
} lc_verify;

/* What lc_cipher_choose() goes by, and how data pass through this machine. */
typedef enum lc_prefer {
  LC_PREFER_SPEED = 0, /* what is done sooner */
  /* What takes less CPU time, unless it takes more than twice as long. */
  LC_PREFER_OFFLOAD = 1
} lc_prefer;

typedef struct lc_options {
  size_t struct_size;
  /* Which devices to use, in order of preference: names of lc_device_info.id
   * or of an API ("cuda", "opencl", "gl", "host": all of its devices), separated by
   * commas. NULL: the environment variable LANECRYPT_DEVICES, and where that
   * is not set every GPU, each through its best API. "none": no device. */
  const char *devices;
  lc_fallback fallback;
  /* Most pinned host memory the queues of one device may hold, in bytes.
   * 0: 256 MiB. */
  uint64_t pinned_bytes;
  lc_verify verify;
  /* A device on which nothing has ended for so long, though there is work, is
   * lost. 0: a minute, or ten for a device that is no GPU. Waiting in a stream
   * of the caller's is not counted; large batches of RSA have longer. */
  uint32_t time_limit_ms;
  lc_prefer prefer;
  /* How many primes for later RSA keys may be kept, of all lengths and exponents
   * together, at most 65536: a device that searches for a key's finds more at the same
   * time. Each is used once. With a number here also those of callers with a random
   * function of their own (lc_rsa_generation.random), who then must all draw from one
   * source. 0: as the environment variable LANECRYPT_PRIME_POOL says, for callers
   * without one; none where that is not set. */
  uint32_t prime_pool;
  /* Most cores at one job that is the CPU's (LC_CPU), the caller's own not counted where
   * it waits. 0: what this library takes for best, at most 8. */
  uint32_t cores;
} lc_options;

/* Opens a context. Touches no device and starts no thread: that happens at
 * the first call that needs one. options may be NULL. A name in
 * options->devices that is no device of this machine is reported by that
 * first call, not here; a malformed list is LC_ERROR_ARGUMENT. */
LC_API lc_status lc_open(const lc_options *options, lc_context **context);
/* Waits for the jobs under way, wipes what is secret and frees everything.
 * NULL is allowed. It must come before OPENSSL_cleanup(), where a program calls that.
 *
 * exit() and the return from main() stop what is not closed, before libcrypto and the
 * drivers end: what a device has begun is waited for, all else ends with
 * LC_ERROR_STOPPED, its output whole, in part or untouched. That holds once the program's own
 * threads are out of this library's functions: one that is in them then may crash the process, as
 * it may in libcrypto. lc_close(), after these threads have ended, is the way that always holds. */
LC_API void lc_close(lc_context *context);

/* ---- Devices ----------------------------------------------------------- */

typedef enum lc_device_state {
  LC_DEVICE_UNTRIED = 0,  /* found, and not used yet */
  LC_DEVICE_READY = 1,    /* its self-test passed */
  LC_DEVICE_UNUSABLE = 2, /* cannot be used; see reason */
  LC_DEVICE_LOST = 3      /* failed while in use, and is used no more */
} lc_device_state;

typedef struct lc_device_info {
  size_t struct_size;
  char id[32];            /* "cuda:0", "opencl:1", "host:0" */
  char api[16];           /* "cuda", "opencl", "gl", "host" */
  char name[128];         /* the model, as its driver calls it */
  char driver[128];       /* version of the driver or platform */
  char reason[256];       /* why it is unusable or lost, for RSA alone too; "" otherwise */
  uint64_t memory_bytes;  /* device memory in all; of OpenGL, which does not tell,
                           * the most that can be had at once, and 0 before use */
  uint32_t compute_units; /* multiprocessors; threads on the host device */
  int is_gpu;             /* 0 for what computes on the CPU, and the emulator */
  int selected;           /* 1 when jobs may go there */
  lc_device_state state;
  /* The same for RSA, which opens a device once more: it may be lost for RSA, or for
   * new keys of it, alone. */
  lc_device_state rsa_state;
} lc_device_info;

/* How many devices the APIs have that lc_options.devices names, selected or not, usable
 * or not. Looks for them on the first call, in other processes: no driver is loaded into
 * this one before a device of it is used. */
LC_API lc_status lc_device_count(lc_context *context, uint32_t *count);
/* Describes device `index`, from 0. Selected devices come first, in order of
 * preference. */
LC_API lc_status lc_device_get(lc_context *context, uint32_t index, lc_device_info *info);
/* Opens a device and runs its known-answer tests now instead of at its first
 * job. LC_ERROR_SELF_TEST, LC_ERROR_NO_DEVICE or LC_ERROR_DEVICE says that it
 * cannot be used. A device that is not selected is tested all the same. */
LC_API lc_status lc_device_test(lc_context *context, uint32_t index);

/* ---- Memory ------------------------------------------------------------ */

typedef enum lc_memory {
  LC_MEMORY_HOST = 0,  /* any memory of the process, pinned or not */
  LC_MEMORY_DEVICE = 1 /* memory on one device; nothing is copied */
} lc_memory;

/* Allocates `bytes` of host memory that every device of the context can read
 * and write at full bus speed, aligned to a page. Where no device can pin
 * memory it is ordinary memory. Zeroed. Freed by lc_free_pinned(). */
LC_API lc_status lc_alloc_pinned(lc_context *context, size_t bytes, void **pointer);
LC_API void lc_free_pinned(lc_context *context, void *pointer);

/* Allocates `bytes` on device `index`; *pointer is a device address, aligned
 * to 256 bytes, for lc_message.in and .out with LC_MEMORY_DEVICE and for the
 * two copies below; the host must not touch it. On a CUDA device it is an
 * ordinary CUDA pointer of the device's primary context. */
LC_API lc_status lc_alloc_device(lc_context *context, uint32_t index, uint64_t bytes,
                                 void **pointer);
/* Frees it. Jobs that use it must be over. */
LC_API lc_status lc_free_device(lc_context *context, uint32_t index, void *pointer);
/* Copies to and from memory of lc_alloc_device() and, on CUDA, any device
 * pointer of the primary context; returns when the copy is done. */
LC_API lc_status lc_copy_to_device(lc_context *context, uint32_t index, void *device_pointer,
                                   const void *host_pointer, uint64_t bytes);
LC_API lc_status lc_copy_from_device(lc_context *context, uint32_t index, void *host_pointer,
                                     const void *device_pointer, uint64_t bytes);

/* ---- Jobs -------------------------------------------------------------- */

/* AES is FIPS 197, its modes are those of SP 800-38A where no other standard is
 * named. Messages may have any length, in whole bytes, where nothing is said.
 * A cipher that this version does not offer yet is LC_ERROR_UNSUPPORTED. */
typedef enum lc_cipher {
  LC_AES_ECB = 0, /* whole blocks */
  LC_AES_CBC = 1, /* no padding: whole blocks */
  LC_AES_CTR = 2, /* the whole 128 bits count, big-endian */
  /* IEEE 1619, SP 800-38E: key_bytes is 32 or 64, the data's key and then the
   * tweak's, which must differ for encryption. The IV is the tweak of the first
   * data unit, little-endian; see data_unit_bytes. 16 bytes or more. */
  LC_AES_XTS = 3,
  LC_AES_CFB128 = 4,
  LC_AES_CFB8 = 5,
  LC_AES_CFB1 = 6, /* whole bytes, the first bit the most significant */
  LC_AES_OFB = 7,
  /* CBC with ciphertext stealing, the addendum to SP 800-38A; 16 bytes or more */
  LC_AES_CBC_CS1 = 8,
  LC_AES_CBC_CS2 = 9,
  LC_AES_CBC_CS3 = 10,
  LC_AES_GCM = 11, /* SP 800-38D: with aad and tag */
  /* SP 800-38C: with aad and tag. The nonce has 7 to 13 bytes, and 15 less these
   * hold the text's length; the tag has 4, 6, 8, 10, 12, 14 or 16. Each block
   * waits for the one before it: give many messages at once. */
  LC_AES_CCM = 12,
  /* RFC 8439. The IV has 16 bytes: the 32-bit block counter, little-endian, and
   * the nonce, as OpenSSL has it. key_bytes is 32. */
  LC_CHACHA20 = 13,
  LC_CHACHA20_POLY1305 = 14 /* RFC 8439, 2.8: with aad and tag; key_bytes is 32 */
} lc_cipher;

typedef enum lc_direction { LC_ENCRYPT = 0, LC_DECRYPT = 1 } lc_direction;

/* Where a part of a longer message of GCM or ChaCha20-Poly1305 stands, for a
 * caller who hashes the additional data, and makes and compares the tag,
 * himself. */
typedef struct lc_aead_part {
  /* Bytes of the message's text before this part: whole blocks, which are of 16
   * bytes in GCM and of 64 in ChaCha20-Poly1305. */
  uint64_t text_before;
  /* Read, and written when the job is over well: what all before it, and then
   * all up to its end, adds to the tag; zeros where nothing was before. With L,
   * the block of lengths, the tag of GCM is sum ^ L H ^ E(J0) (SP 800-38D, in
   * the field of GHASH), and that of ChaCha20-Poly1305 sum + L r + s (RFC 8439).
   * GCM: a block of 16 bytes. ChaCha20-Poly1305: a number modulo 2^130 - 5 as
   * five uint32_t, each of 26 bits, the least first. */
  uint32_t sum[8];
} lc_aead_part;

/* One independent message. */
typedef struct lc_message {
  /* key_bytes of the job, host memory. Messages that give the same pointer
   * share one key schedule. */
  const void *key;
  /* iv_bytes of the job, host memory: the IV, the nonce, the initial counter
   * block, or the tweak. Ignored for ECB, where it may be NULL. */
  const void *iv;
  /* length bytes each, at any alignment. out == in works in place; any other
   * overlap, within a message or between messages, is an error of the caller
   * and gives undefined output. */
  const void *in;
  void *out;
  /* Bytes. A multiple of 16 for ECB and CBC. 0 is allowed. */
  uint64_t length;
  /* GCM, CCM and ChaCha20-Poly1305: the additional data that is authenticated
   * and not encrypted, host memory; may be NULL where aad_length is 0. */
  const void *aad;
  uint64_t aad_length;
  /* And the tag, tag_bytes of the job, host memory: written by encryption, read
   * by decryption. */
  void *tag;
  /* NULL, or where in a longer message this is a part; in and out are then host
   * memory, and there is neither aad nor tag. Decryption verifies nothing: its
   * text must not be trusted before the caller has compared the tag. */
  lc_aead_part *part;
} lc_message;

/* Any device of the right kind. */
#define LC_ANY_DEVICE UINT32_MAX
/* Not a device: the CPU, to which jobs fall back. */
#define LC_CPU (UINT32_MAX - 1)

typedef struct lc_cipher_job {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction;
  uint32_t key_bytes; /* 16, 24 or 32, of every message; see lc_cipher */
  lc_memory memory;   /* of every message's in and out */
  /* The device to use; a device named here is used even if it is not selected. LC_CPU takes
   * OpenSSL (host memory): of 2 MiB or more on up to 8 cores, but for authenticated modes; a
   * chain's stream and a data unit of XTS are one core's. LC_ANY_DEVICE lets Lanecrypt choose
   * (host memory): a job of 32 MiB or more is done by all that are selected, each taking of it
   * as it gets free. Of device memory, each message is then done where its memory of
   * lc_alloc_device() lies, on all of these at once, and other memory is taken to be device 0's. */
  uint32_t device;
  /* With LC_MEMORY_DEVICE on CUDA: the CUstream or cudaStream_t of the primary
   * context in whose order the job runs: after what is in the stream already,
   * before what comes later. The call returns once the work is in the stream.
   * NULL: the input must be ready, and the output is when the job ends. */
  void *stream;
  const lc_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_message) */
  /* Bytes of every IV. 0: the usual, which is 16, and 12 for GCM, CCM and
   * ChaCha20-Poly1305. Another number only where the mode's standard has it. */
  uint32_t iv_bytes;
  /* Bytes of every tag. 0: 16. */
  uint32_t tag_bytes;
  /* XTS: a message is a run of data units of this many bytes, of which the last
   * may be shorter (16 at least), and each has the tweak of the one before plus
   * 1. At least 16 and at most 16 MiB (2^20 blocks). 0: a message is one data
   * unit, and no longer than that. */
  uint64_t data_unit_bytes;
  /* message_count of them, or NULL. Decrypting with a tag, that of a message is
   * LC_OK, or LC_ERROR_TAG where its tag is wrong, when the job is over. With
   * LC_ERROR_TAG as the result of the whole job, the outputs of the messages
   * whose tags are wrong were wiped, and all others are good. While the job
   * runs, an output in host memory may hold text that is not verified yet; one
   * in device memory is wiped in the order of the stream. */
  lc_status *message_status;
} lc_cipher_job;

/* Where a job ran and how long its parts took. Times are the device's own,
 * summed over all pieces; pieces overlap, so they may add up to more than the
 * job took. 0 where the device tells no time. */
typedef struct lc_result {
  size_t struct_size;
  uint64_t device_bytes;
  uint64_t cpu_bytes;
  uint64_t upload_ns;
  uint64_t kernel_ns;
  uint64_t download_ns;
  /* RSA operations; device_bytes and cpu_bytes then count their inputs. */
  uint64_t device_operations;
  uint64_t cpu_operations;
  /* Of those, the operations whose result failed its check on the device and
   * was made again on the CPU. */
  uint64_t failed_checks;
  /* Devices that the job, or a part of it, was on, and that could not do it: others
   * or the CPU did what was left. None that has no kernels for such a job. */
  uint64_t failed_devices;
} lc_result;

/* Runs a job and waits for it. result may be NULL. With LC_MEMORY_DEVICE and
 * a stream it waits for the device too. On an error of the device with
 * LC_FALLBACK_NONE, outputs are either whole pieces or untouched. */
LC_API lc_status lc_run(lc_context *context, const lc_cipher_job *job, lc_result *result);

/* How a caller hears that an asynchronous job is over. */
typedef struct lc_completion {
  size_t struct_size;
  /* Called once, from a thread of Lanecrypt's, with no lock held: it must be short
   * and must not wait for another job, nor for a thread that is in lc_ticket_wait()
   * for this one, nor close the context, nor call exit(). May be NULL. */
  void (*callback)(void *argument, lc_status status);
  void *argument;
  /* An eventfd(2) to which 1 is added; -1 for none. Stays the caller's. */
  int eventfd;
} lc_completion;

/* Starts a job. Messages, keys and IVs are copied before it returns; inputs
 * and outputs must stay until the job is over. The first job of a device waits until
 * that is open. completion may be NULL. ticket
 * may be NULL when completion is not: then nothing needs to be freed. When it
 * returns an error the job was not started and completion is not told. */
LC_API lc_status lc_submit(lc_context *context, const lc_cipher_job *job,
                           const lc_completion *completion, lc_ticket **ticket);
/* LC_PENDING, or how the job ended. */
LC_API lc_status lc_ticket_status(const lc_ticket *ticket);
/* The same, with its result where it has ended; result may be NULL. Waits for nothing:
 * the completion's callback may still be running. */
LC_API lc_status lc_ticket_result(const lc_ticket *ticket, lc_result *result);
/* Waits for the end, and until the completion's callback has returned, and returns how
 * it ended; lc_last_error() says more. result may be NULL. */
LC_API lc_status lc_ticket_wait(lc_ticket *ticket, lc_result *result);
/* Lets go of a ticket, at any time: a job under way goes on. NULL is allowed. */
LC_API void lc_ticket_free(lc_ticket *ticket);

/* ---- RSA --------------------------------------------------------------- */

/* An RSA key. It belongs to no context, and may be used from many threads and
 * in a child of fork. */
typedef struct lc_rsa_key lc_rsa_key;

/* A number, unsigned, big-endian; leading zeros are allowed. Where a number is
 * left out, length is 0. */
typedef struct lc_number {
  const void *bytes;
  size_t length;
} lc_number;

/* RFC 8017, section 3: n and e alone make a public key. With the five of the
 * second representation (p, q, dp = d mod p-1, dq = d mod q-1, qinv = 1/q mod
 * p) it is a private key, of two primes. d may be given beside them; where it
 * is left out it is computed. */
typedef struct lc_rsa_parts {
  size_t struct_size;
  lc_number n, e;
  lc_number p, q, dp, dq, qinv;
  lc_number d;
  /* Of a private key that is handed in: where the random numbers come from that blind it,
   * as lc_rsa_generation.random has it; called while jobs with the key are under way. NULL:
   * the private random generator of a library context of Lanecrypt's own, of OpenSSL. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
} lc_rsa_parts;

/* Copies a key into memory of Lanecrypt's that is locked where the system
 * allows and wiped when the key goes. n has 512 to 16384 bits; e is odd, at
 * least 3 and less than n. Where the parts do not belong together (n = p q, dp
 * e = 1 mod p-1, dq e = 1 mod q-1, qinv q = 1 mod p) it is LC_ERROR_ARGUMENT;
 * that p and q are prime is not tested. */
LC_API lc_status lc_rsa_key_new(const lc_rsa_parts *parts, lc_rsa_key **key);
/* Lets go of a key, at any time: jobs under way keep what they need of it.
 * NULL is allowed. */
LC_API void lc_rsa_key_free(lc_rsa_key *key);
/* Bytes of the modulus: of every input and output under this key. */
LC_API size_t lc_rsa_key_bytes(const lc_rsa_key *key);

/* RFC 8017, sections 5.1 and 5.2: numbers in, numbers out, with no padding. */
typedef enum lc_rsa_operation {
  LC_RSA_PUBLIC = 0, /* in^e mod n: encryption, verification */
  LC_RSA_PRIVATE = 1 /* in^d mod n: decryption, signature; by CRT, blinded,
                      * checked against e before it leaves, in constant time */
} lc_rsa_operation;

/* One operation: lc_rsa_key_bytes(key) bytes each, big-endian, host memory, at
 * any alignment. in is less than n. out == in works in place; any other overlap
 * is an error of the caller. */
typedef struct lc_rsa_message {
  const lc_rsa_key *key;
  const void *in;
  void *out;
} lc_rsa_message;

/* Operations of one kind, under any keys of any lengths. */
typedef struct lc_rsa_job {
  size_t struct_size;
  lc_rsa_operation operation;
  /* The device to use, though it be not selected; LC_ANY_DEVICE lets Lanecrypt
   * choose; LC_CPU takes OpenSSL. A device takes keys of 1024 to 8192 bits with
   * an e of at most 64 bits and, for private operations, primes of about equal
   * length; other keys' operations go to the CPU, or, with LC_FALLBACK_NONE,
   * make the job LC_ERROR_UNSUPPORTED. */
  uint32_t device;
  const lc_rsa_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_rsa_message) */
} lc_rsa_job;

/* Runs a job and waits for it. result may be NULL. An input that is not less
 * than its n is LC_ERROR_ARGUMENT, and nothing is done. */
LC_API lc_status lc_rsa_run(lc_context *context, const lc_rsa_job *job, lc_result *result);
/* Starts a job, as lc_submit(): messages are copied before it returns and keys
 * are kept; inputs and outputs must stay until the job is over. */
LC_API lc_status lc_rsa_submit(lc_context *context, const lc_rsa_job *job,
                               const lc_completion *completion, lc_ticket **ticket);

/* Where a single private operation runs, for a caller who can do it by means of
 * his own, as the provider can by OpenSSL. Under a modulus of `bits` bits, 1: it
 * ends sooner on a device, if it is handed to lc_rsa_run() or lc_rsa_submit()
 * now. 0: on the calling thread; the caller then says by lc_rsa_ran_on_cpu() how
 * long it took (0: unknown), which is what the next answers go by. in_line: how many
 * operations the thread has to do that would wait for one another: 1, or more
 * for a thread that runs several jobs in turn. When a device would first be asked,
 * programs look for devices, and until they have done so the answer is 0; one call
 * then waits until they are open, half a second on an NVIDIA card. */
LC_API int lc_rsa_device_is_sooner(lc_context *context, uint32_t bits, uint32_t in_line);
LC_API void lc_rsa_ran_on_cpu(lc_context *context, uint32_t bits, uint64_t nanoseconds);

/* ---- Making RSA keys --------------------------------------------------- */

/* How far it is. */
typedef struct lc_rsa_progress {
  size_t struct_size;
  uint64_t candidates; /* random numbers drawn for primes */
  uint64_t tests;      /* rounds of Miller and Rabin that were made of them */
  uint64_t primes;     /* found */
  uint64_t keys;       /* finished */
} lc_rsa_progress;

/* New keys, all of one length and one e, of two probable primes each: FIPS 186-5,
 * A.1.3. Every candidate is a fresh random number; each prime passes the rounds of
 * Miller and Rabin that table B.1 asks for (below 2048 bits, of which it does not
 * speak, 8), and the finished key is checked on the CPU, one more round for each
 * prime among it: see docs/security.md. */
typedef struct lc_rsa_generation {
  size_t struct_size;
  uint32_t bits;      /* of the modulus: even, 1024 to 16384 */
  lc_number exponent; /* e: odd, from 65537 to 2^256 - 1. Left out: 65537 */
  uint64_t count;     /* keys to make */
  /* The device to use, which is waited for until it is open; LC_CPU; or
   * LC_ANY_DEVICE: the CPU searches until a device is open. A device takes keys of
   * 1024 to 8192 bits. Where it fails, another goes on, or the CPU where
   * LC_FALLBACK_CPU allows it. */
  uint32_t device;
  /* Takes each finished key, number 0 the first; its numbers are big-endian, d
   * among them, and are wiped after the call. On the calling thread, as the next. 1: go
   * on; 0: enough, which ends the call with LC_ERROR_STOPPED. */
  int (*on_key)(void *argument, uint64_t number, const lc_rsa_parts *key);
  /* Hears now and then how far it is; answers as on_key. May be NULL. */
  int (*on_progress)(void *argument, const lc_rsa_progress *progress);
  /* Where all random bits come from, such as RAND_priv_bytes_ex() of a library
   * context: fills `bytes` bytes and returns 1, or returns 0, which fails the call.
   * Called on threads of Lanecrypt's, several at once. NULL: the private random
   * generator of a library context of Lanecrypt's own, of OpenSSL. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
} lc_rsa_generation;

/* Makes keys; returns when they are made. result may be NULL; its operations are
 * rounds of Miller and Rabin, and failed_checks counts primes of a device that the
 * CPU found to be none: the device is then used no more. */
LC_API lc_status lc_rsa_generate(lc_context *context, const lc_rsa_generation *generation,
                                 lc_result *result);

/* For a caller that can make a key by means of its own: whether a single one is
 * made sooner by lc_rsa_generate() with LC_ANY_DEVICE. 1 where a device is open for
 * it, or where a key of that length takes longer than to open one (from 4096 bits on;
 * the CPU's cores search meanwhile). After the answer was 0 eight times, one call waits
 * until a device is open. Always 0 where the lanes of
 * no selected device share a number, as CUDA's do: one lane by itself takes seconds to
 * minutes to find a long prime, and only many keys at once pay there. */
LC_API int lc_rsa_generation_is_sooner(lc_context *context, uint32_t bits);

/* ---- Calibration -------------------------------------------------------- */

typedef enum lc_tune_depth {
  LC_TUNE_STORED = 0, /* only what is known already */
  LC_TUNE_QUICK = 1,  /* what may pay in one message; about a second on a GPU */
  LC_TUNE_FULL = 2    /* every mode and key, ordinary and pinned memory; longer */
} lc_tune_depth;

/* One request in place that was measured on both sides, with nothing else under
 * way. Times in nanoseconds. */
typedef struct lc_tune_point {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction; /* LC_ENCRYPT where both are the same */
  uint32_t key_bytes;
  int pinned;             /* 1 in memory of lc_alloc_pinned(), 0 in ordinary */
  uint32_t streams;       /* messages */
  uint64_t bytes;         /* of all of them */
  uint64_t device_ns;     /* until the call was over */
  uint64_t device_cpu_ns; /* of all this process's threads meanwhile */
  uint64_t cpu_ns;        /* by OpenSSL on one core */
  uint64_t cores_ns;      /* by LC_CPU, on several; 0: not for such work, or memory */
} lc_tune_point;

/* Measures device `index`, and the CPU beside it, and keeps the result under
 * XDG_CACHE_HOME for this machine, device and version; all contexts that look for
 * devices after that, and this one at once, go by it. Nothing else should run
 * meanwhile. on_point (NULL: nobody) is told each point, on the calling thread, and
 * stops by returning other than 0: LC_ERROR_STOPPED, and nothing is kept. With
 * LC_TUNE_STORED nothing is measured, and LC_ERROR_UNSUPPORTED says that nothing is
 * known. */
LC_API lc_status lc_tune(lc_context *context, uint32_t index, lc_tune_depth depth,
                         int (*on_point)(void *argument, const lc_tune_point *point),
                         void *argument);

typedef struct lc_cipher_question {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction;
  uint32_t key_bytes;
  int pinned;       /* all of it in memory of lc_alloc_pinned() */
  uint32_t streams; /* messages, of about the same length */
  uint64_t bytes;   /* of all of them */
} lc_cipher_question;

typedef enum lc_choice {
  LC_CHOICE_CPU = 0,
  LC_CHOICE_DEVICE = 1,
  LC_CHOICE_UNKNOWN = 2, /* nothing like it was measured here, or not yet */
  LC_CHOICE_CORES = 3    /* lc_run() with LC_CPU: several cores, in the CPU time of one */
} lc_choice;

/* Where a request belongs by lc_options.prefer, for a caller who can also do it by
 * OpenSSL: by its kind and size, by what was measured, and by what waits for devices
 * now. The CPU has wrong questions, and all below 64 KiB. After 1 GiB of requests other
 * programs look for devices and measure what nobody has (LC_TUNE_QUICK, which is kept),
 * and nobody waits for them. Where a device then is sooner, one call waits until it is
 * open. Before, nothing touches a device. */
LC_API lc_choice lc_cipher_choose(lc_context *context, const lc_cipher_question *question);

/* Whether a selected device is open and passed its tests: 1 or 0. Touches nothing.
 * Where none is, and opens_now is not 0, other programs look for devices, for which
 * nobody waits; a call that finds them known opens the first that can be used. */
LC_API int lc_is_open(lc_context *context, int opens_now);

/* ---- Counters ---------------------------------------------------------- */

typedef struct lc_counters {
  size_t struct_size;
  uint64_t jobs;       /* jobs of which at least one byte ran here */
  uint64_t bytes;      /* bytes that ran here */
  uint64_t launches;   /* kernels started; 0 for the CPU */
  uint64_t failures;   /* launches, copies, self-tests or checks that failed */
  uint64_t operations; /* RSA operations that ran here; rounds of tests of primes, too */
} lc_counters;

/* What device `index`, or LC_CPU, has done since the context was opened.
 * Self-tests are not counted, except where they fail. */
LC_API lc_status lc_counters_get(lc_context *context, uint32_t index, lc_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
