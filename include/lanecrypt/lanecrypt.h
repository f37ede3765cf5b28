/*
 * Lanecrypt: block ciphers, ChaCha20, hashes, RSA, SLH-DSA and ML-DSA on graphics processors,
 * in bulk. The public C ABI.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Threads: any thread may call every function. lc_close() must be the last call
 * on its context, and lc_ticket_free() the last on its ticket.
 * Errors: when a function that returns lc_status fails, lc_last_error() has a
 * sentence about it for a person. The library prints nothing and never aborts.
 * Structs that begin with struct_size: set it to sizeof the struct. So the library
 * knows that fields which a later version adds are absent. Zero the rest, as
 * {.struct_size = sizeof job} does: zero means "not given" in every field, except in
 * an enum whose first value is 0.
 * A program that was built against the header of version 0.1 runs with this library, and
 * each of its structs means what it meant in 0.1.
 * Fork: a child of fork starts with no device open. It must not use tickets and
 * memory of the parent.
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
  LC_ERROR_UNSUPPORTED = 3, /* a valid request, but not offered here */
  LC_ERROR_MEMORY = 4,      /* host or device memory ran out */
  LC_ERROR_NO_DEVICE = 5,   /* no usable device, and the CPU was not allowed */
  LC_ERROR_DEVICE = 6,      /* the device failed and nothing else took over */
  LC_ERROR_SELF_TEST = 7,   /* the device gave wrong answers to known questions */
  LC_ERROR_INTERNAL = 8,    /* a fault of Lanecrypt's own */
  LC_ERROR_TAG = 9,         /* a tag is wrong: no plaintext was given out */
  LC_ERROR_STOPPED = 10     /* a callback of the caller or exit() stopped it */
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

/* What happens to a job that no device can do. */
typedef enum lc_fallback {
  LC_FALLBACK_CPU = 0, /* the job, or what is left of it, runs on the CPU, by OpenSSL */
  LC_FALLBACK_NONE = 1 /* the job fails instead */
} lc_fallback;

/* How much of a device's output the CPU computes again. Where it differs, the device
 * is lost, with the reason in lc_device_info, and others do again what it did of the
 * jobs under way. They cannot where a message is in place and some of its pieces were
 * found right before: that input is gone. Jobs with input in device memory are not checked.
 * RSA, whatever is set here: the device checks each private result against the public
 * exponent, and the CPU checks one result of each batch. SLH-DSA and ML-DSA, the same:
 * the device verifies each signature, and the CPU one of each batch. */
typedef enum lc_verify {
  /* Up to four blocks, chosen at random, of each chunk of up to 16 MiB that comes back;
   * one block of a chunk below 1 MiB. Of tags, only those that the device found wrong. */
  LC_VERIFY_SAMPLED = 0,
  LC_VERIFY_OFF = 1,
  /* All of it, tags too, but not those of CCM. Slower than the CPU alone. */
  LC_VERIFY_FULL = 2
} lc_verify;

/* What lc_cipher_choose() goes by, and by which way data pass through this machine. */
typedef enum lc_prefer {
  LC_PREFER_SPEED = 0, /* what ends sooner */
  /* What takes less CPU time, unless it takes more than twice as long. */
  LC_PREFER_OFFLOAD = 1
} lc_prefer;

typedef struct lc_options {
  size_t struct_size;
  /* Which devices to use, in order of preference, separated by commas: names as in
   * lc_device_info.id, or an API ("cuda", "opencl", "gl", "host") for all of its
   * devices. "none": no device. NULL: as the environment variable LANECRYPT_DEVICES
   * says; where that is not set, every GPU, each through its best API. */
  const char *devices;
  lc_fallback fallback;
  /* The most pinned host memory, in bytes, that the queues of one device may hold.
   * 0: 256 MiB. */
  uint64_t pinned_bytes;
  lc_verify verify;
  /* A device is lost when it has work and ends nothing for so long. 0: a minute, or ten
   * minutes for a device that is no GPU. Waiting in the caller's stream does not count.
   * Large batches of RSA have longer. */
  uint32_t time_limit_ms;
  lc_prefer prefer;
  /* How many primes may be kept for later RSA keys, of all lengths and exponents
   * together, at most 65536. A device that searches for a key then finds more primes at
   * the same time. Each is used once. With a number here, primes are kept for callers
   * with a random function of their own (lc_rsa_generation.random) too; all of these
   * must then draw from one source. 0: as the environment variable LANECRYPT_PRIME_POOL
   * says, and only for callers without such a function; none where it is not set. */
  uint32_t prime_pool;
  /* The most cores that work at one job of the CPU (LC_CPU). The caller's core does not
   * count where the caller waits. 0: what this library takes for best, at most 8. */
  uint32_t cores;
  /* Who does private operations of RSA, makes keys of RSA, and makes signatures of ML-DSA and
   * SLH-DSA, with LC_ANY_DEVICE: NULL or "off": the devices above. Otherwise the service lanecryptd
   * of this machine, and no device is opened for them:
   * - "auto": the one at /run/lanecrypt/socket or $XDG_RUNTIME_DIR/lanecrypt/socket.
   * - an absolute path: the one at this socket.
   * - "require": as "auto", and an operation that the service does not do is an error.
   * A socket is used only if it and all folders above it belong to root, to this user or to
   * service_owner, if nobody else may write to these folders (unless they are sticky, as /tmp is),
   * and if root or the socket's owner listens there.
   * Any other text is LC_ERROR_ARGUMENT. What the service does not do, since it is not there, is
   * full or fails, the CPU does, by LC_FALLBACK_CPU. Nothing is lost if the service ends: after
   * 5 seconds of silence too. Later operations try again, first after a quarter of a second.
   * A call that waits does all of this on the caller's thread. For jobs that are submitted a thread
   * of the context reads the answers. Keys are copied to the service, which checks them as
   * lc_rsa_key_new() and others do, and forgets them when they are freed. Of a key of SLH-DSA it
   * gets all but SK.prf; the messages of ML-DSA and SLH-DSA are hashed here. For RSA it draws the
   * numbers for blinding from a generator of its own, whatever lc_rsa_parts.random says; what
   * hedges signatures is drawn here. The service tries its devices for SLH-DSA when the first key
   * comes: until then it may have no device for it. With LC_VERIFY_FULL this process checks each
   * result and each signature too. Public operations of RSA, verification, new keys of ML-DSA and
   * SLH-DSA, and jobs with a key of a draft's set know nothing of the service. For keys of RSA see
   * lc_rsa_generation. */
  const char *service;
  /* Another user, by name or number, whose socket is used too. NULL: none. A name is looked up when
   * the first operation needs the service. */
  const char *service_owner;
} lc_options;

/* Opens a context. options may be NULL. It touches no device and starts no thread:
 * the first call that needs one does. That call also reports a name in
 * options->devices that is no device of this machine. A malformed list is
 * LC_ERROR_ARGUMENT here. */
LC_API lc_status lc_open(const lc_options *options, lc_context **context);
/* Waits for the jobs under way, wipes what is secret and frees everything.
 * NULL is allowed. A program that calls OPENSSL_cleanup() must call this before.
 *
 * exit() and the return from main() stop a context that is not closed, before libcrypto
 * and the drivers end. They wait for what a device has begun. All else ends with
 * LC_ERROR_STOPPED, its output whole, in part or untouched. This is safe only when the
 * program's own threads are out of this library's functions: a thread that is inside may
 * crash the process, as it may in libcrypto. lc_close(), after these threads have ended,
 * is always safe. */
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
  char reason[256];       /* why it is unusable or lost, be it only for one family; "" otherwise */
  uint64_t memory_bytes;  /* all device memory. OpenGL does not tell: there the most
                           * that can be had at once, and 0 before use */
  uint32_t compute_units; /* multiprocessors; threads on the host device */
  int is_gpu;             /* 0 for a device that computes on the CPU, and the emulator */
  int selected;           /* 1 when jobs may go there */
  lc_device_state state;
  /* The state for RSA, whose kernels are loaded when they are first needed. A device may be
   * lost only for RSA, or only for new RSA keys. */
  lc_device_state rsa_state;
  char pci_address[16]; /* "0000:3b:00.0"; "" where the driver does not tell */
  /* The same as rsa_state for SLH-DSA and for ML-DSA. */
  lc_device_state slh_dsa_state;
  lc_device_state ml_dsa_state;
} lc_device_info;

/* How many devices there are by the APIs that lc_options.devices names, selected or not,
 * usable or not. The first call looks for them, in other processes. A driver is loaded
 * into this process only when a device of it is used. */
LC_API lc_status lc_device_count(lc_context *context, uint32_t *count);
/* Describes device `index`, from 0. Selected devices come first, in order of
 * preference. */
LC_API lc_status lc_device_get(lc_context *context, uint32_t index, lc_device_info *info);
/* Opens a device and runs its known-answer tests now instead of at its first
 * job. LC_ERROR_SELF_TEST, LC_ERROR_NO_DEVICE or LC_ERROR_DEVICE says that it
 * cannot be used. It tests a device that is not selected, too. */
LC_API lc_status lc_device_test(lc_context *context, uint32_t index);

/* ---- Memory ------------------------------------------------------------ */

typedef enum lc_memory {
  LC_MEMORY_HOST = 0,   /* any memory of the process, pinned or not */
  LC_MEMORY_DEVICE = 1, /* memory on one device; nothing is copied */
  /* Of jobs of ciphers: the input is memory on one device, and the output any memory of the
   * process, pinned or not; see lc_cipher_job.memory. */
  LC_MEMORY_DEVICE_TO_HOST = 2
} lc_memory;

/* Allocates `bytes` of zeroed host memory, aligned to a page, that every device of the
 * context can read and write at full bus speed. Where no device can pin memory it is
 * ordinary memory. lc_free_pinned() frees it. */
LC_API lc_status lc_alloc_pinned(lc_context *context, size_t bytes, void **pointer);
LC_API void lc_free_pinned(lc_context *context, void *pointer);

/* Allocates `bytes` on device `index`. *pointer is a device address, aligned to 256
 * bytes, for lc_message.in and .out with LC_MEMORY_DEVICE and for the two copies below.
 * The host must not access it. On a CUDA device it is an ordinary CUDA pointer of the
 * device's primary context. */
LC_API lc_status lc_alloc_device(lc_context *context, uint32_t index, uint64_t bytes,
                                 void **pointer);
/* Frees it. Jobs that use it must be over. */
LC_API lc_status lc_free_device(lc_context *context, uint32_t index, void *pointer);
/* Copy to and from memory of lc_alloc_device() and, on CUDA, of any device pointer of
 * the primary context. They return when the copy is done. */
LC_API lc_status lc_copy_to_device(lc_context *context, uint32_t index, void *device_pointer,
                                   const void *host_pointer, uint64_t bytes);
LC_API lc_status lc_copy_from_device(lc_context *context, uint32_t index, void *host_pointer,
                                     const void *device_pointer, uint64_t bytes);

/* ---- Jobs -------------------------------------------------------------- */

/* AES is that of FIPS 197. Its modes are those of SP 800-38A where no other standard is
 * named. Messages may have any length in whole bytes, unless a comment says otherwise.
 * A cipher that this version does not offer yet is LC_ERROR_UNSUPPORTED. */
typedef enum lc_cipher {
  /* Whole blocks. Beware: a zeroed lc_cipher_job that was given no cipher names this one. If its
   * messages have a tag or additional data, the job is LC_ERROR_ARGUMENT. */
  LC_AES_ECB = 0,
  LC_AES_CBC = 1, /* no padding: whole blocks */
  LC_AES_CTR = 2, /* the whole 128 bits count, big-endian */
  /* IEEE 1619, SP 800-38E. key_bytes is 32 or 64: the data's key and then the tweak's,
   * which must differ for encryption. The IV is the tweak of the first data unit,
   * little-endian; see data_unit_bytes. A message has 16 bytes or more. */
  LC_AES_XTS = 3,
  LC_AES_CFB128 = 4,
  /* CFB with segments of 8 bits and of 1 bit is done by the CPU: no device has kernels for it.
   * Where only a device may do it, the job is LC_ERROR_UNSUPPORTED. */
  LC_AES_CFB8 = 5,
  LC_AES_CFB1 = 6, /* whole bytes; the first bit of a byte is the most significant */
  LC_AES_OFB = 7,
  /* CBC with ciphertext stealing, by the addendum to SP 800-38A; 16 bytes or more */
  LC_AES_CBC_CS1 = 8,
  LC_AES_CBC_CS2 = 9,
  LC_AES_CBC_CS3 = 10,
  LC_AES_GCM = 11, /* SP 800-38D: with aad and tag */
  /* SP 800-38C: with aad and tag. The nonce has 7 to 13 bytes. The rest of 15 bytes
   * holds the text's length, and so bounds it. The tag has 4, 6, 8, 10, 12, 14 or 16.
   * Each block waits for the one before it: give many messages at once. */
  LC_AES_CCM = 12,
  /* RFC 8439. The IV has 16 bytes: the 32-bit block counter, little-endian, and
   * the nonce, as OpenSSL has it: a text that goes past 2^32 blocks carries into the nonce, and
   * goes on with the keystream of another. key_bytes is 32. */
  LC_CHACHA20 = 13,
  LC_CHACHA20_POLY1305 = 14, /* RFC 8439, 2.8: with aad and tag; key_bytes is 32 */
  /* The modes of SM4, Camellia and ARIA are as those of AES.
   * SM4 (GB/T 32907-2016); key_bytes is 16, but for XTS. */
  LC_SM4_ECB = 15,
  LC_SM4_CBC = 16,
  LC_SM4_CTR = 17,
  LC_SM4_CFB128 = 18,
  LC_SM4_OFB = 19,
  LC_SM4_GCM = 20,
  LC_SM4_CCM = 21,
  /* key_bytes is 32: the data's key and then the tweak's, which may be alike. XTS is that
   * of IEEE 1619, as for AES. XTS_GB is that of GB/T 17964-2021, whose tweaks have the bits
   * of each byte in the other order: what OpenSSL does where nothing is set. */
  LC_SM4_XTS = 22,
  LC_SM4_XTS_GB = 23,
  /* Camellia (RFC 3713); key_bytes is 16, 24 or 32. */
  LC_CAMELLIA_ECB = 24,
  LC_CAMELLIA_CBC = 25,
  LC_CAMELLIA_CTR = 26,
  LC_CAMELLIA_CFB128 = 27,
  LC_CAMELLIA_OFB = 28,
  /* ARIA (RFC 5794); key_bytes is 16, 24 or 32. */
  LC_ARIA_ECB = 29,
  LC_ARIA_CBC = 30,
  LC_ARIA_CTR = 31,
  LC_ARIA_CFB128 = 32,
  LC_ARIA_OFB = 33,
  LC_ARIA_GCM = 34,
  LC_ARIA_CCM = 35
} lc_cipher;

typedef enum lc_direction { LC_ENCRYPT = 0, LC_DECRYPT = 1 } lc_direction;

/* Where a part of a longer message of GCM or ChaCha20-Poly1305 stands. It is for a
 * caller who himself hashes the additional data, and makes and compares the tag. */
typedef struct lc_aead_part {
  /* Bytes of the message's text before this part: whole blocks, of 16 bytes in GCM and
   * of 64 in ChaCha20-Poly1305. */
  uint64_t text_before;
  /* The sum of the tag. The caller sets it to what the message adds to the tag before
   * this part, zeros for nothing. When the job has ended well, it is what the message
   * adds up to the end of this part. In GCM it is a block of 16 bytes, in
   * ChaCha20-Poly1305 a number modulo 2^130 - 5 as five uint32_t of 26 bits each, the
   * least first. With L, the block of lengths, the tag of GCM is sum ^ L H ^ E(J0)
   * (SP 800-38D, in the field of GHASH), and that of ChaCha20-Poly1305 is sum + L r + s
   * (RFC 8439). */
  uint32_t sum[8];
} lc_aead_part;

/* One independent message. */
typedef struct lc_message {
  /* key_bytes of the job, host memory. Messages that give the same pointer
   * share one key schedule. */
  const void *key;
  /* iv_bytes of the job, host memory: the IV, the nonce, the first counter block, or the
   * tweak. ECB ignores it; it may be NULL there.
   * Never encrypt two messages with one nonce under one key: their ciphertexts then reveal the XOR
   * of the plaintexts, and with GCM messages can be forged. Random nonces of 12 bytes are good for
   * 2^32 messages under one key (SP 800-38D, 8.3), which a device may encrypt in minutes: to
   * encrypt more, count the nonces or derive a key for each text. In CTR and ChaCha20 a message
   * uses up a value of the counter for each block.
   * A job that encrypts with GCM, CCM or ChaCha20-Poly1305 is LC_ERROR_ARGUMENT if two of its
   * messages have the same nonce under the same key (the same bytes, at any address). If the nonces
   * do not ascend in the order of the messages, Lanecrypt may find that out while the job runs: the
   * job then ends with this error, and the outputs and tags that it wrote in host memory are zeros.
   * Messages with `part` are not compared. Nonces of other jobs, and the IVs of all other modes,
   * are for the caller to see to. */
  const void *iv;
  /* length bytes each, at any alignment. out == in works in place. Any other overlap is
   * LC_ERROR_ARGUMENT, and nothing is done: what a job writes (outputs, tags that it makes,
   * message_status, verdicts) must overlap nothing else that it writes, nor what it reads (inputs,
   * tags that it compares, additional data), of any message. Not detected: one memory at two
   * addresses, such as a file that is mapped twice. The output is then undefined. */
  const void *in;
  void *out;
  /* Bytes. A multiple of 16 for ECB and CBC. 0 is allowed. */
  uint64_t length;
  /* GCM, CCM and ChaCha20-Poly1305: the additional data, which is authenticated and not
   * encrypted, host memory. It may be NULL where aad_length is 0. */
  const void *aad;
  uint64_t aad_length;
  /* Their tag, tag_bytes of the job, at any alignment, in host memory or where
   * lc_cipher_job.tag_memory says: encryption writes it, decryption reads it. */
  void *tag;
  /* NULL, or where this stands as a part of a longer message. Then in and out are host
   * memory, and there is neither aad nor tag. Decryption of a part verifies nothing: do
   * not trust the text before the caller has compared the tag. */
  lc_aead_part *part;
} lc_message;

/* A number that goes up by 1 from segment to segment, where it stands in bytes that are
 * otherwise the same for all. */
typedef struct lc_numbering {
  uint32_t at;    /* its first byte */
  uint32_t bytes; /* how many it has; 0: there is no such number */
  int little_endian;
  uint64_t first; /* that of the first segment */
} lc_numbering;

/* A text in segments under one key, each a message of its own: what Tink, age, Iceberg and
 * others have in files, and what tensors and caches are cut into. All lies side by side or at
 * one distance, in the memory that lc_cipher_job.memory says. The modes are GCM, CCM,
 * ChaCha20-Poly1305, CTR and ChaCha20. */
typedef struct lc_segments {
  size_t struct_size;
  const void *key; /* key_bytes of the job, host memory */
  /* The text of the first segment, at any alignment. out == in works in place, with the same
   * strides. Otherwise what reaches from the first segment to the last must not overlap. Nor may
   * anything else that the job writes overlap what it reads or writes: see lc_message. */
  const void *in;
  void *out;
  /* Bytes of text of all segments together, without tags. Each segment has segment_bytes, but
   * the last one what is left. The first may have less too: first_bytes, or as the others
   * where that is 0. A text of no bytes is one segment. A tag does not count here. */
  uint64_t text_bytes;
  uint64_t segment_bytes;
  uint64_t first_bytes;
  /* From the beginning of one segment's text to that of the next, between any two segments of
   * segment_bytes. A shorter first one has the next as much nearer. 0: the texts lie without a
   * gap, but for tags behind them. */
  uint64_t in_stride;
  uint64_t out_stride;
  /* Tags: that of the first segment, in the memory of lc_cipher_job.tag_memory, and the
   * distance from one to the next (0: tag_bytes). tags NULL: each tag lies behind the text of
   * its segment, in encryption where that goes and in decryption where it comes from. Then
   * tag_memory counts as memory. */
  void *tags;
  uint64_t tag_stride;
  /* The nonce or IV: iv_bytes of the job, host memory, the same for all segments but for the
   * number in it. If last_flag is 1, the byte at last_flag_at is 1 in the last segment of the
   * whole text and 0 in all others; is_end says that this job's last segment is that one.
   * Nothing here can give two segments of a job one nonce: it is LC_ERROR_ARGUMENT if the
   * numbers do not fit in their bytes, if several segments have no number, and in CTR and
   * ChaCha20, whose IV counts blocks, if one segment's blocks reach the next one's number.
   * The caller must make sure that no other job uses them with this key. If few bytes of the
   * nonce are left beside the number, random ones repeat soon (7 bytes within some thousand texts):
   * derive a key for each text from a random salt, as Tink does. */
  const void *nonce;
  lc_numbering number;
  int last_flag;
  uint32_t last_flag_at;
  int is_end;
  /* Not 0: each segment's nonce is given, at this distance from the one before, and there is
   * neither number nor last_flag. */
  uint64_t nonce_stride;
  /* Additional data, the same for all segments but for the number in it. They must stay like the
   * input. */
  const void *aad;
  uint64_t aad_length;
  lc_numbering aad_number;
  /* Where `aad` is. LC_MEMORY_DEVICE: on the messages' device, at any alignment; they are read in
   * the order of the stream. That is for GCM and ChaCha20-Poly1305 with nonces of 12 bytes and at
   * most 4,096 bytes of additional data, where texts and tags are in device memory too (others:
   * LC_ERROR_UNSUPPORTED). */
  lc_memory aad_memory;
} lc_segments;

/* Any device of the right kind: Lanecrypt chooses. A job whose `device` was left zero means the
 * same. To name device 0, set has_device too. */
#define LC_ANY_DEVICE UINT32_MAX
/* No device but the CPU, to which jobs fall back. */
#define LC_CPU (UINT32_MAX - 1)

/* CUDA's default streams, for lc_cipher_job.stream, by the driver's own handles for them
 * (CU_STREAM_LEGACY, CU_STREAM_PER_THREAD; cudaStreamLegacy, cudaStreamPerThread). The first
 * is what an application that names no stream uses, unless it was compiled for the second, of
 * which each thread has one: the job takes the calling thread's. */
#define LC_STREAM_LEGACY ((void *)1)
#define LC_STREAM_PER_THREAD ((void *)2)

typedef struct lc_cipher_job {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction;
  uint32_t key_bytes; /* 16, 24 or 32, of every message; see lc_cipher */
  /* Of every message's in and out. With LC_MEMORY_DEVICE_TO_HOST the device copies one piece to
   * out while it does the next one: into memory of lc_alloc_pinned(), or what is page-locked
   * otherwise, at the speed of the bus. This is for GCM, ChaCha20-Poly1305, ECB, CTR, XTS and
   * ChaCha20 (others: LC_ERROR_UNSUPPORTED). What belongs to a message beside its text is in host
   * memory, its tag too: tags that lie behind texts which are decrypted are LC_ERROR_ARGUMENT. A
   * wrong tag has out wiped before the job ends. No other device and not the CPU can take over. */
  lc_memory memory;
  /* Who does the job:
   * - The index of a device, selected or not. Index 0 needs has_device = 1.
   * - LC_CPU: OpenSSL, with host memory. A job of 2 MiB or more takes up to 8 cores, except
   *   in authenticated modes. One core does a whole stream of a chain, and a whole data
   *   unit of XTS.
   * - LC_ANY_DEVICE, or 0 without has_device: Lanecrypt chooses. With host memory all selected
   *   devices share a job of 32 MiB or more: each takes more of it when it is free. With input in
   *   device memory each message is done on the device of lc_alloc_device() where that lies, all of
   *   these at once. Other memory is taken to be device 0's. */
  uint32_t device;
  /* With LC_MEMORY_DEVICE on CUDA: a CUstream or cudaStream_t of the primary context. The
   * job runs in its order: after what is in the stream already, before what comes later.
   * lc_submit() returns once the work is in the stream. NULL is no stream, and not CUDA's
   * default one either: the input must be ready before the call, and the output is ready
   * when the job ends. A default stream is LC_STREAM_LEGACY or LC_STREAM_PER_THREAD. A
   * stream that is being captured into a graph makes the job LC_ERROR_UNSUPPORTED: see
   * lc_capture().
   * With LC_MEMORY_DEVICE_TO_HOST the call waits until all that is in the stream is done, and
   * starts the job then. What comes into the stream later does not wait for the job: leave the
   * input alone until it is over. */
  void *stream;
  const lc_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_message) */
  /* Bytes of every IV. 0: the usual number, 12 for GCM, CCM and ChaCha20-Poly1305 and 16
   * for the others. Any other number only where the mode's standard allows it. */
  uint32_t iv_bytes;
  /* Bytes of every tag. 0: 16. */
  uint32_t tag_bytes;
  /* XTS: a message is a run of data units of this many bytes, from 16 to 16 MiB (2^20
   * blocks). The last unit may be shorter, 16 bytes at least. The tweak of each is that
   * of the one before plus 1. 0: a message is one data unit, of at most 16 MiB. */
  uint64_t data_unit_bytes;
  /* One for each message, or NULL; not with tags or verdicts in device memory. When a job that
   * decrypts with tags is over, that of a message is LC_OK, or LC_ERROR_TAG where its tag is wrong.
   * If the whole job ends with LC_ERROR_TAG, the outputs of the messages with wrong tags were
   * wiped, and all others are good. While the job runs, an output in host memory may hold text that
   * is not verified yet. One in device memory is wiped in the order of the stream. */
  lc_status *message_status;
  /* Where the tags of messages in device memory (LC_MEMORY_DEVICE) are. LC_MEMORY_DEVICE: on
   * the messages' device. Then the host never learns them: encryption writes them in the order of
   * the stream, and decryption reads them in it. */
  lc_memory tag_memory;
  /* Decryption with tags, in device memory: the address of a byte for each message, on the
   * messages' device, or NULL. In the order of the stream it becomes 1 where the tag is right
   * and 0 where it is wrong, when the output has been wiped. The host does not learn that: the
   * job ends with LC_OK. If it ends with another error, the bytes may be as they were.
   * Decryption must have this where tags are in device memory. */
  void *verdicts;
  /* Instead of messages, which are then NULL: what is a message elsewhere is a segment of
   * these. Errors, message_status and verdicts count the segments from 0. */
  const lc_segments *segments;
  /* Not 0: the caller has set `device`. This tells device 0 from a field that was left zero. */
  int has_device;
  /* Not 0: the caller vouches that the outputs and the tags which the job makes overlap nothing,
   * such as memory that it has just allocated. Lanecrypt then does not look for overlap. */
  int outputs_are_apart;
} lc_cipher_job;

/* Where a job ran, and how long its steps took. Times are by the device's own clock, summed
 * over all pieces, and 0 where the device tells none. A job in device memory with a stream is not
 * timed, since that would delay it: record events of your own around it. Nor are few short messages
 * whose tags are in device memory. Pieces overlap, so the times may add up to more than the job
 * took. */
typedef struct lc_result {
  size_t struct_size;
  uint64_t device_bytes;
  uint64_t cpu_bytes;
  uint64_t upload_ns;
  uint64_t kernel_ns;
  uint64_t download_ns;
  /* Operations of RSA, SLH-DSA and ML-DSA. Of RSA, device_bytes and cpu_bytes count the inputs;
   * of the others signatures, and keys that were made. */
  uint64_t device_operations;
  uint64_t cpu_operations;
  /* Of cpu_operations, those whose result failed its check on the device and was made
   * again on the CPU. Where a job ends as lc_slh_dsa_run() says of one-time keys, what nobody has
   * made then is counted too. */
  uint64_t failed_checks;
  /* Devices that had the job, or a part of it, and could not do it. Others or the CPU did
   * what was left. A device that has no kernels for such a job is not counted. */
  uint64_t failed_devices;
  /* Of RSA, SLH-DSA and ML-DSA, about the last launch that did operations of the job: how many
   * operations of all jobs it did together, the time from the job's submission to the launch, and
   * from there until the results were there. 0 where no device did any. The service tells no number
   * of operations (0); of what it did, these times are until the last request was sent, and from
   * there to its answer. */
  uint64_t batch_operations;
  uint64_t waiting_ns;
  uint64_t device_ns;
  /* Of device_operations, those that the service lanecryptd did (lc_options.service). Where it
   * failed, failed_devices counts it as one. */
  uint64_t service_operations;
} lc_result;

/* Runs a job and waits for it. result may be NULL. With LC_MEMORY_DEVICE and a stream it
 * waits for the device too. If the device fails with LC_FALLBACK_NONE, each piece of the
 * output is either whole or untouched. */
LC_API lc_status lc_run(lc_context *context, const lc_cipher_job *job, lc_result *result);

/* How a caller hears that an asynchronous job is over. */
typedef struct lc_completion {
  size_t struct_size;
  /* Called once, from a thread of Lanecrypt's (or as lc_ticket_notify() says), with no lock held.
   * It must be short. It may allocate, copy and free memory of devices and start other jobs, but
   * none with a stream of device memory, nor capture one (LC_ERROR_ARGUMENT). It must not wait for
   * another job, nor for a thread that is in lc_ticket_wait() for this one. It must not close the
   * context or call exit(). May be NULL. */
  void (*callback)(void *argument, lc_status status);
  void *argument;
  /* An eventfd(2) to which 1 is added; -1 for none. The caller keeps it and closes it. 0, as in a
   * struct that was zeroed, is none too, unless descriptor 0 is an eventfd by then. */
  int eventfd;
  /* Where the job's result goes before the callback is called and the eventfd is written. NULL:
   * nowhere. It must stay until then. Its struct_size is set by the caller. */
  lc_result *result;
  /* Whose job it is, if the program works for several: a number of the caller's own, or 0. What a
   * device did wrong, the CPU does again for each owner in turn, so one waits for at most one
   * operation of another. Jobs of RSA, ML-DSA and SLH-DSA. */
  uint64_t owner;
} lc_completion;

/* Starts a job. Messages, keys and IVs are copied before it returns. Inputs and outputs must
 * stay until the job is over. The first job of a device waits until the device is open.
 * completion may be NULL. ticket may be NULL when completion is not: then nothing needs to
 * be freed. When it returns an error, the job was not started and the completion is not used.
 * With LC_MEMORY_DEVICE and a stream it returns once the work is in the stream, and both may be
 * NULL: then an error says that the work is not in the stream, or not all of it. Additional data
 * in host memory, and tags there that are compared, have been read by then. Up to 256 such calls
 * wait for nothing that the stream waits for. */
LC_API lc_status lc_submit(lc_context *context, const lc_cipher_job *job,
                           const lc_completion *completion, lc_ticket **ticket);
/* LC_PENDING, or how the job ended. */
LC_API lc_status lc_ticket_status(const lc_ticket *ticket);
/* The same, and the job's result where it has ended. result may be NULL. It waits for
 * nothing: the completion's callback may still be running. */
LC_API lc_status lc_ticket_result(const lc_ticket *ticket, lc_result *result);
/* Waits until the job is over and the completion's callback has returned. Returns how the
 * job ended; lc_last_error() says more. result may be NULL. */
LC_API lc_status lc_ticket_wait(lc_ticket *ticket, lc_result *result);
/* The same, but returns LC_PENDING if the job is not over after so many nanoseconds. */
LC_API lc_status lc_ticket_wait_for(lc_ticket *ticket, uint64_t nanoseconds, lc_result *result);
/* Adds a completion to a job of any kind, which may have had one at its start. Each that is added
 * is used once. If the job is over, and all earlier ones have been used, the calling thread uses
 * this one before it returns. After an error it is not used. A job in device memory with a stream
 * takes less of its caller's time if it begins without a completion: his own thread then begins it,
 * and ends it when he asks for its end or waits for it. With a completion Lanecrypt's thread ends
 * it, which must be woken for that. */
LC_API lc_status lc_ticket_notify(lc_ticket *ticket, const lc_completion *completion);
/* Frees a ticket, at any time. A job under way goes on. NULL is allowed. */
LC_API void lc_ticket_free(lc_ticket *ticket);

/* ---- Ciphers in CUDA graphs -------------------------------------------- */

/* A job that a CUDA graph does again at each launch: the memory on the device that the graph's
 * nodes name, with the key in it. */
typedef struct lc_graph_job lc_graph_job;

/* What is another at each launch of the graph. Addresses are on the messages' device, at any
 * alignment. */
typedef struct lc_graph_update {
  size_t struct_size;
  /* Encryption: how many launches encrypt. The segments of the first have the numbers from
   * segments->number.first on, and each later launch goes on where the last one ended. All these
   * numbers must fit in their bytes. */
  uint64_t count;
  /* The address of the nonce or IV of the first segment, 12 bytes, or 16 of CTR and ChaCha20; or
   * NULL. Encryption writes it there at each launch. Decryption reads it at each launch, and counts
   * on from the number in it; with NULL each launch has the nonces that lc_submit() would have. */
  void *nonce;
  /* Encryption: the address of a byte. Each launch makes it 1, or 0 where `count` launches were
   * before: then it encrypts nothing, and the output, the tags and the nonce become zeros, in place
   * too. Decryption: NULL; it has lc_cipher_job.verdicts. */
  void *verdict;
} lc_graph_update;

/* Puts a job into job->stream, which the program captures into a graph in any mode
 * (cuStreamBeginCapture). Each launch of the graph then does it with what lies in its memory at
 * that time, and the host has no part in that. Waits for nothing that is in the stream.
 *
 * The job has segments, one at least and 65,536 at most, and some text: of GCM (with AES, SM4 or
 * ARIA) or ChaCha20-Poly1305 with nonces of 12 bytes and at most 4,096 bytes of additional data, or
 * of CTR (with any block cipher) or ChaCha20. Text, tags and verdicts are in device memory, and the
 * stream is no default one. Other jobs are LC_ERROR_UNSUPPORTED: messages, CCM, other nonces. What
 * is wrong in any job is LC_ERROR_ARGUMENT, segments of a mode that takes none too, such as CBC; so
 * are a job without text or stream, and a stream that is not being captured. Devices that are not
 * CUDA's capture none (LC_ERROR_UNSUPPORTED). After an error some of the job may be in the stream:
 * do not launch that graph.
 *
 * Additional data in device memory (lc_segments.aad_memory) are read anew at each launch. Those in
 * host memory are copied here, and are the same at each launch. The number in them begins with
 * aad_number.first at each launch: it says where in its text a segment stands, and does not go on
 * as the nonces do.
 *
 * No launch of the graph encrypts with a nonce of another: encryption whose nonces have no number,
 * or not numbers enough, is LC_ERROR_ARGUMENT. So is encryption with CTR or ChaCha20, where the IV
 * counts blocks, if the blocks of a segment reach the number, also where there is one segment: the
 * next launch has the next number. Decryption is not held to this, and in these modes does the same
 * as encryption: encrypt nothing by it. That nothing else uses these numbers with this key is for
 * the caller to see to, and that no two launches run at the same time: where the graph is
 * instantiated once, CUDA sees to it.
 *
 * The device keeps the key for the graph, until lc_graph_job_free() or lc_close(). Any thread. */
LC_API lc_status lc_capture(lc_context *context, const lc_cipher_job *job,
                            const lc_graph_update *update, lc_graph_job **captured);
/* Zeroes and frees what the graph names. The graph must not run, and not be launched any more. NULL
 * is allowed; what is not of this context is LC_ERROR_ARGUMENT. */
LC_API lc_status lc_graph_job_free(lc_context *context, lc_graph_job *captured);

/* ---- RSA --------------------------------------------------------------- */

/* An RSA key. It belongs to no context. Many threads may use it, and so may a child of
 * fork. */
typedef struct lc_rsa_key lc_rsa_key;

/* A number, unsigned, big-endian. Leading zeros are allowed. A length of 0 says that the
 * number is left out. */
typedef struct lc_number {
  const void *bytes;
  size_t length;
} lc_number;

/* A key by RFC 8017, section 3. n and e alone make a public key. With the five numbers of
 * the second representation (p, q, dp = d mod p-1, dq = d mod q-1, qinv = 1/q mod p) it is
 * a private key of two primes. d may be given beside them, and is computed if it is left
 * out. */
typedef struct lc_rsa_parts {
  size_t struct_size;
  lc_number n, e;
  lc_number p, q, dp, dq, qinv;
  lc_number d;
  /* Of a private key that the caller gives: where the random numbers for its blinding come from,
   * a function as lc_rsa_generation.random. It is called by lc_rsa_run() and lc_rsa_submit(), on
   * the thread that calls these, and not after they have returned: what it uses may then be freed
   * while the job is under way. It gives a seed and 4 bytes for each operation; other numbers that
   * a job needs are made of the seed by SHAKE256. If a job's keys have different functions, their
   * seeds are used together. NULL: OpenSSL's private random generator, in a library context of
   * Lanecrypt's own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
} lc_rsa_parts;

/* Copies a key into memory of Lanecrypt's that is locked where the system allows it, and
 * wiped when the key is freed. n has 512 to 16384 bits. e is odd, at least 3 and less than
 * n. Parts that do not belong together are LC_ERROR_ARGUMENT: n = p q, dp e = 1 mod p-1,
 * dq e = 1 mod q-1 and qinv q = 1 mod p must hold. Whether p and q are prime is not
 * tested. */
LC_API lc_status lc_rsa_key_new(const lc_rsa_parts *parts, lc_rsa_key **key);
/* Frees a key, at any time. Jobs under way keep what they need of it. NULL is allowed. */
LC_API void lc_rsa_key_free(lc_rsa_key *key);
/* Bytes of the modulus, which every input and output under this key has. */
LC_API size_t lc_rsa_key_bytes(const lc_rsa_key *key);

/* RFC 8017, sections 5.1 and 5.2: numbers in, numbers out, with no padding. */
typedef enum lc_rsa_operation {
  LC_RSA_PUBLIC = 0, /* in^e mod n: encryption, verification */
  LC_RSA_PRIVATE = 1 /* in^d mod n: decryption, signature; by CRT, blinded, in constant
                      * time, and checked against e before it leaves */
} lc_rsa_operation;

/* One operation. in and out have lc_rsa_key_bytes(key) bytes each, big-endian, in host
 * memory, at any alignment. in is less than n. out == in works in place. Any other overlap
 * of an output with another output or an input of the job is LC_ERROR_ARGUMENT. */
typedef struct lc_rsa_message {
  const lc_rsa_key *key;
  const void *in;
  void *out;
} lc_rsa_message;

/* Operations of one kind, under any keys of any lengths. */
typedef struct lc_rsa_job {
  size_t struct_size;
  lc_rsa_operation operation;
  /* The device to use, selected or not (index 0 needs has_device = 1); LC_ANY_DEVICE, or 0 without
   * has_device: Lanecrypt chooses; LC_CPU: OpenSSL.
   * A device takes keys of 1024 to 8192 bits with an e of at most 64 bits and, for private
   * operations, primes of about equal length. Operations of other keys go to the CPU. With
   * LC_FALLBACK_NONE they make the job LC_ERROR_UNSUPPORTED. */
  uint32_t device;
  const lc_rsa_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_rsa_message) */
  /* Not 0: the caller has set `device`. This tells device 0 from a field that was left zero. */
  int has_device;
} lc_rsa_job;

/* Runs a job and waits for it. result may be NULL. An input that is not less
 * than its n is LC_ERROR_ARGUMENT, and nothing is done. So ends a job with a private key that
 * proves to be at fault: if a device or the CPU gets a wrong result with it and its p or q is not
 * prime, or if it cannot be blinded; its other operations may have been done. A random function of
 * a key's that fails, or gives the same byte over and over, is LC_ERROR_INTERNAL, and nothing is
 * done (lc_rsa_submit() returns it). */
LC_API lc_status lc_rsa_run(lc_context *context, const lc_rsa_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. Messages are copied before it returns, and keys are
 * kept. Inputs and outputs must stay until the job is over. */
LC_API lc_status lc_rsa_submit(lc_context *context, const lc_rsa_job *job,
                               const lc_completion *completion, lc_ticket **ticket);

/* Where a single private operation under a modulus of `bits` bits ends sooner (with
 * lc_options.service, whether by the service), for a caller
 * who can also do it himself, as the provider can by OpenSSL. 1: on a device, if the caller
 * hands it to lc_rsa_run() or lc_rsa_submit() now. 0: on the calling thread; the caller then
 * tells lc_rsa_report_cpu_time() how long it took (0: unknown), and later answers go by that.
 * in_line: how many operations of this thread would wait for one another: 1, or more for a
 * thread that runs several jobs in turn.
 * When a device would first pay, other programs look for devices. Until they have done so
 * the answer is 0. One call then waits until the devices are open, half a second on an
 * NVIDIA card. */
LC_API int lc_rsa_prefers_device(lc_context *context, uint32_t bits, uint32_t in_line);
LC_API void lc_rsa_report_cpu_time(lc_context *context, uint32_t bits, uint64_t nanoseconds);

/* ---- Making RSA keys --------------------------------------------------- */

/* How far lc_rsa_generate() is. */
typedef struct lc_rsa_progress {
  size_t struct_size;
  uint64_t candidates; /* random numbers drawn for primes */
  uint64_t tests;      /* rounds of Miller and Rabin made with them */
  uint64_t primes;     /* primes found */
  uint64_t keys;       /* keys finished */
} lc_rsa_progress;

/* New keys, all of one length and one e, of two probable primes each, by FIPS 186-5, A.1.3.
 * Every candidate is a fresh random number. Each prime passes the rounds of Miller and Rabin
 * that table B.1 asks for, and 8 below 2048 bits, which the table does not cover. The CPU
 * checks the finished key, with one more round for each prime: see docs/security.md. */
typedef struct lc_rsa_generation {
  size_t struct_size;
  uint32_t bits;      /* of the modulus: even, 1024 to 16384 */
  lc_number exponent; /* e: odd, from 65537 to 2^256 - 1. 65537 if it is left out */
  uint64_t count;     /* keys to make */
  /* The device to use: the call waits until it is open. Index 0 needs has_device = 1. LC_CPU: none.
   * LC_ANY_DEVICE, or 0 without has_device: Lanecrypt chooses, and the CPU searches until a device
   * is open. A device takes keys of 1024 to 8192 bits. Where it fails, another goes on, or the CPU
   * where LC_FALLBACK_CPU allows it. With lc_options.service and LC_ANY_DEVICE the service makes
   * these keys, several at once, if `random` is NULL: it draws by a generator of its own. The
   * numbers of each key are compared with each other here. With LC_VERIFY_FULL the key is also made
   * again here of its primes, with one more round for each. What the service does not make, the CPU
   * does, by LC_FALLBACK_CPU. */
  uint32_t device;
  /* Takes each finished key; the first is number 0. The key's numbers are big-endian, d
   * among them, and are wiped after the call. Called on the thread that called
   * lc_rsa_generate(). Returns 1 to go on, or 0 to end with LC_ERROR_STOPPED. */
  int (*on_key)(void *argument, uint64_t number, const lc_rsa_parts *key);
  /* Hears now and then how far it is, on the same thread, and returns the same. May be
   * NULL. */
  int (*on_progress)(void *argument, const lc_rsa_progress *progress);
  /* Where all random bits come from, such as RAND_priv_bytes_ex() of a library context. It
   * fills `bytes` bytes and returns 1, or returns 0, which fails the call. Called on threads
   * of Lanecrypt's, several at once, and not after lc_rsa_generate() has returned. NULL: OpenSSL's
   * private random generator, in a library context of Lanecrypt's own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* Not 0: the caller has set `device`. This tells device 0 from a field that was left zero. */
  int has_device;
} lc_rsa_generation;

/* Makes keys, and returns when they are made. result may be NULL. Its operations are rounds
 * of Miller and Rabin, and for the service one for each key. Its failed_checks counts numbers that
 * a device called primes and the CPU found to be none; that device is used no more. */
LC_API lc_status lc_rsa_generate(lc_context *context, const lc_rsa_generation *generation,
                                 lc_result *result);

/* Whether lc_rsa_generate() with LC_ANY_DEVICE makes a single key sooner, for a caller who can
 * also make it himself. 1 where a device is open for it, or where a key of that length takes
 * longer than to open one (from 4096 bits on; the CPU's cores search meanwhile). When the
 * answer was 0 eight times, one call waits until a device is open. Always 0 unless threads
 * share a number on a selected device, as on CUDA's. Elsewhere one thread by itself takes
 * seconds to minutes to find a long prime, and only many keys at once pay. With
 * lc_options.service: whether the service is there and has a device, for a key of that length or
 * for one after eight others. */
LC_API int lc_rsa_generation_prefers_device(lc_context *context, uint32_t bits);

/* ---- SLH-DSA ------------------------------------------------------------ */

/* The parameter sets of FIPS 205, table 2. n is the bytes of a hash: 16 in those with 128 in
 * their name, 24 with 192, 32 with 256. "s" makes small signatures, "f" makes them fast.
 *
 * DRAFT: the sets whose names end with "24" are those of SP 800-230, initial public draft of
 * April 2026. The final text may have other sets, or other numbers in them: then these go, and
 * what they signed verifies no more. A key of theirs may make 2^24 signatures in all; after more,
 * others can forge some. Lanecrypt does not count them: the caller must, over all copies of the
 * key and all programs. A device makes their keys, in 170 MiB of its memory with 128 in the name,
 * 190 with 192 and 415 with 256, and signatures, in 35 at most with a tree, else in about as much.
 * A CPU would take minutes, so there these end with LC_ERROR_UNSUPPORTED; it verifies. */
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

/* "SLH-DSA-SHA2-128s", in static storage; NULL for a number that is no set. */
LC_API const char *lc_slh_dsa_name(lc_slh_dsa_set set);
/* n. A public key has 2 n bytes, a private key 4 n, the seeds of a new key 3 n. 0 for a number
 * that is no set. */
LC_API size_t lc_slh_dsa_hash_bytes(lc_slh_dsa_set set);
/* Bytes of every signature; 0 for a number that is no set. */
LC_API size_t lc_slh_dsa_signature_bytes(lc_slh_dsa_set set);

/* DRAFT: bytes of the tree of a key (lc_slh_dsa_parts.tree); 0 for a set of FIPS 205, which keeps
 * none, and for a number that is no set. */
LC_API size_t lc_slh_dsa_tree_bytes(lc_slh_dsa_set set);

/* A key of SLH-DSA. It belongs to no context. Many threads may use it, and so may a child of
 * fork. */
typedef struct lc_slh_dsa_key lc_slh_dsa_key;

/* A key as bytes, by FIPS 205, section 9.1. */
typedef struct lc_slh_dsa_parts {
  size_t struct_size;
  lc_slh_dsa_set set;
  /* SK.seed, SK.prf, PK.seed and PK.root in a row, 4 n bytes; NULL with 0 bytes for a public
   * key. */
  const void *private_key;
  size_t private_key_bytes;
  /* PK.seed and PK.root, 2 n bytes. NULL with 0 bytes where a private key is given; if both
   * are, they must agree. */
  const void *public_key;
  size_t public_key_bytes;
  /* Where the random numbers of hedged signatures come from, a function as
   * lc_rsa_generation.random. It is called by lc_slh_dsa_run() and lc_slh_dsa_submit(), on the
   * thread that calls these. NULL: OpenSSL's private random generator, in a library context of
   * Lanecrypt's own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* DRAFT: of a private key of a draft's set, the upper levels of its tree, as
   * lc_slh_dsa_generation.trees has them, of lc_slh_dsa_tree_bytes(). With them a signature takes a
   * fraction of the hashes; the bytes of signatures are the same. They are public, and copied, and
   * must lead to PK.root. NULL with 0 bytes: each signature grows the whole tree. */
  const void *tree;
  size_t tree_bytes;
} lc_slh_dsa_parts;

/* Copies a key into memory of Lanecrypt's that is locked where the system allows it, and wiped
 * when the key is freed. Whether PK.root belongs to the seeds is not tested: if it does not, no
 * signature is made. That a tree leads to PK.root is: else this is LC_ERROR_ARGUMENT. */
LC_API lc_status lc_slh_dsa_key_new(const lc_slh_dsa_parts *parts, lc_slh_dsa_key **key);
/* Frees a key, at any time. Jobs under way keep what they need of it. NULL is allowed. */
LC_API void lc_slh_dsa_key_free(lc_slh_dsa_key *key);

typedef enum lc_slh_dsa_operation {
  LC_SLH_DSA_SIGN = 0,
  LC_SLH_DSA_VERIFY = 1,
  LC_SLH_DSA_GENERATE = 2 /* for lc_slh_dsa_prefers_device(); no operation of a job */
} lc_slh_dsa_operation;

/* What is signed of a message. */
typedef enum lc_message_encoding {
  /* FIPS 205, algorithms 22 and 24: the message after its context string. */
  LC_MESSAGE_PURE = 0,
  /* Algorithms 23 and 25: the message's digest by lc_slh_dsa_job.hash, which Lanecrypt computes,
   * after the context string and the name of the hash. */
  LC_MESSAGE_PRE_HASH = 1,
  /* Algorithms 19 and 20, the internal interface: the message as it is, without a context. */
  LC_MESSAGE_RAW = 2,
  /* Of ML-DSA alone: see lc_ml_dsa_message. */
  LC_MESSAGE_MU = 3,
  /* Of SLH-DSA alone, and only to sign: what the caller has made of the message by algorithm 19,
   * lines 3 to 5: R, n bytes, and then the digest, of m bytes of table 2: 30, 34, 39, 42, 47 or 49
   * for 128s, 128f, 192s, 192f, 256s and 256f; 21, 32 or 41 for the draft's. SK.prf serves nothing
   * then. For a caller who has SK.prf and the message where Lanecrypt is not. The digest must be
   * H_msg() of an R that nobody could foresee. Never take one from somebody who does not have the
   * private key: of digests that he chooses, signatures give the key away. */
  LC_MESSAGE_DIGEST = 4
} lc_message_encoding;

/* The approved hashes of pre-hash signatures. The number is the last of the hash's object
 * identifier, 2.16.840.1.101.3.4.2. SHAKE128 gives 32 bytes here, SHAKE256 64. */
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

/* One operation. All memory is host memory, at any alignment. What is not the signature is read
 * before the call returns, and need not stay. */
typedef struct lc_slh_dsa_message {
  const lc_slh_dsa_key *key; /* to sign, a private one */
  const void *message;
  size_t message_bytes; /* any number, 0 too */
  const void *context;  /* the context string */
  size_t context_bytes; /* 0 to 255; 0 with LC_MESSAGE_RAW and LC_MESSAGE_DIGEST */
  /* To sign: n bytes that take the place of random numbers (addrnd of FIPS 205), or NULL. They
   * are copied before the call returns. NULL with LC_MESSAGE_DIGEST. */
  const void *additional_random;
  /* To sign: where the signature goes, of lc_slh_dsa_signature_bytes(). To verify: the
   * signature, which is only read. It stays until the job is over. Signatures that a job makes
   * must overlap neither each other nor a message, a context or random numbers of the job:
   * LC_ERROR_ARGUMENT. */
  void *signature;
  /* To sign: the room there. To verify: the bytes of the signature; any other number than that
   * of the set makes it wrong. */
  size_t signature_bytes;
} lc_slh_dsa_message;

/* Signatures to make or to verify, under any keys of any sets. */
typedef struct lc_slh_dsa_job {
  size_t struct_size;
  lc_slh_dsa_operation operation;
  lc_message_encoding encoding;
  lc_pre_hash hash; /* with LC_MESSAGE_PRE_HASH, else LC_PRE_HASH_NONE */
  /* To sign: 1 for deterministic signatures, 0 for hedged ones with fresh random numbers. With
   * additional_random neither matters, nor with LC_MESSAGE_DIGEST. */
  int deterministic;
  /* The device to use, selected or not (index 0 needs has_device = 1); LC_ANY_DEVICE, or 0 without
   * has_device: Lanecrypt chooses; LC_CPU: no device. */
  uint32_t device;
  const lc_slh_dsa_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_slh_dsa_message) */
  /* To verify: a byte for each message, which is 1 if its signature is right, when the job has
   * ended with LC_OK, and 0 in every other case. They overlap no message, context or signature. To
   * sign: NULL. */
  uint8_t *verdicts;
  /* Not 0: the caller has set `device`. This tells device 0 from a field that was left zero. */
  int has_device;
} lc_slh_dsa_job;

/* Runs a job and waits for it. result may be NULL. A wrong signature is no error: see verdicts.
 * Messages are hashed on the calling thread. A signature is verified before it is given out,
 * whoever made it; one that the device made wrong the CPU makes again. Where a root that is
 * signed differs from the one that the same one-time key has signed before, one of both was a
 * fault: the CPU makes the signature again, and if it finds that difference too the job ends
 * with LC_ERROR_DEVICE, for a second signature would give that key away. So it does where the
 * service (lc_options.service) tells that it has found one. See docs/security.md. When a job of
 * signatures fails, any of them may have been written, whole. */
LC_API lc_status lc_slh_dsa_run(lc_context *context, const lc_slh_dsa_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. Messages are hashed before it returns, and keys are
 * kept. */
LC_API lc_status lc_slh_dsa_submit(lc_context *context, const lc_slh_dsa_job *job,
                                   const lc_completion *completion, lc_ticket **ticket);

/* New keys of one set (FIPS 205, algorithm 21). */
typedef struct lc_slh_dsa_generation {
  size_t struct_size;
  lc_slh_dsa_set set;
  uint32_t device; /* as in lc_slh_dsa_job */
  size_t count;    /* of keys */
  /* SK.seed, SK.prf and PK.seed of each, 3 n bytes, one key after the other. NULL: random
   * numbers. They are copied before the call returns. */
  const void *seeds;
  /* Where the private keys go, 4 n bytes each. They must not overlap `trees`. */
  void *keys;
  /* Where random numbers come from, as lc_rsa_generation.random, on the calling thread. NULL:
   * as in lc_slh_dsa_parts. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* DRAFT: where the trees of the keys go, lc_slh_dsa_tree_bytes() each, one after the other: the
   * nodes of height 9 from the left, n bytes each. NULL: nowhere, and always so for a set of FIPS
   * 205. */
  void *trees;
  /* Not 0: the caller has set `device`. This tells device 0 from a field that was left zero. */
  int has_device;
} lc_slh_dsa_generation;

/* Makes keys, and returns when they are made. result may be NULL. The CPU makes the first keys of
 * a device again, and some later, or all by LC_VERIFY_FULL; if it differs, the device is lost. Of a
 * key of a draft's set it makes again one of 4096 or 8192 parts, chosen at random, and all above
 * the parts.
 * After an error, any of the keys may have been written, whole. */
LC_API lc_status lc_slh_dsa_generate(lc_context *context, const lc_slh_dsa_generation *generation,
                                     lc_result *result);
/* Starts to make keys, as lc_submit() does. */
LC_API lc_status lc_slh_dsa_submit_generation(lc_context *context,
                                              const lc_slh_dsa_generation *generation,
                                              const lc_completion *completion, lc_ticket **ticket);

/* Where a single operation ends sooner, for a caller who can also do it himself: as
 * lc_rsa_prefers_device() and lc_rsa_report_cpu_time() for RSA. With lc_options.service, of
 * LC_SLH_DSA_SIGN with a set of FIPS 205: whether by the service. */
LC_API int lc_slh_dsa_prefers_device(lc_context *context, lc_slh_dsa_set set,
                                     lc_slh_dsa_operation operation, uint32_t in_line);
LC_API void lc_slh_dsa_report_cpu_time(lc_context *context, lc_slh_dsa_set set,
                                       lc_slh_dsa_operation operation, uint64_t nanoseconds);

/* ---- ML-DSA ------------------------------------------------------------- */

/* The parameter sets of FIPS 204, table 1. */
typedef enum lc_ml_dsa_set {
  LC_ML_DSA_44 = 44,
  LC_ML_DSA_65 = 65,
  LC_ML_DSA_87 = 87
} lc_ml_dsa_set;

/* What has a length of its own in each set. */
typedef enum lc_ml_dsa_part {
  LC_ML_DSA_SEED = 0,        /* xi of FIPS 204, section 3.6.3: 32 bytes in every set */
  LC_ML_DSA_PUBLIC_KEY = 1,  /* as pkEncode makes it (section 7.2): 1312, 1952, 2592 bytes */
  LC_ML_DSA_PRIVATE_KEY = 2, /* as skEncode makes it: 2560, 4032, 4896 bytes */
  LC_ML_DSA_SIGNATURE = 3    /* as sigEncode makes it: 2420, 3309, 4627 bytes */
} lc_ml_dsa_part;

/* Bytes of a part; 0 for a number that is no set or no part. */
LC_API size_t lc_ml_dsa_bytes(lc_ml_dsa_set set, lc_ml_dsa_part part);

/* A key of ML-DSA. It belongs to no context. Many threads may use it, and so may a child of
 * fork. */
typedef struct lc_ml_dsa_key lc_ml_dsa_key;

/* A key as bytes. Each part that is given has the bytes that lc_ml_dsa_bytes() says; NULL: it is
 * left out. One at least is given. */
typedef struct lc_ml_dsa_parts {
  size_t struct_size;
  lc_ml_dsa_set set;
  /* With a seed it is the key that ML-DSA.KeyGen_internal makes of it (algorithm 6). */
  const void *seed;
  const void *private_key;
  /* Needed for a public key alone. */
  const void *public_key;
  /* Where the random numbers of hedged signatures come from, a function as
   * lc_rsa_generation.random. It is called by lc_ml_dsa_run() and lc_ml_dsa_submit(), on the
   * thread that calls these. NULL: OpenSSL's private random generator, in a library context of
   * Lanecrypt's own. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
} lc_ml_dsa_parts;

/* Copies a key into memory of Lanecrypt's that is locked where the system allows it, and wiped
 * when the key is freed. Parts that do not belong together are LC_ERROR_ARGUMENT: of a private
 * key, the public key is computed, and with it t0 and tr must agree. Takes a core some tenths of
 * a millisecond for a private key. */
LC_API lc_status lc_ml_dsa_key_new(const lc_ml_dsa_parts *parts, lc_ml_dsa_key **key);
/* Frees a key, at any time. Jobs under way keep what they need of it. NULL is allowed. */
LC_API void lc_ml_dsa_key_free(lc_ml_dsa_key *key);

typedef enum lc_ml_dsa_operation {
  LC_ML_DSA_SIGN = 0,    /* FIPS 204, algorithms 2 and 7 */
  LC_ML_DSA_VERIFY = 1,  /* algorithms 3 and 8 */
  LC_ML_DSA_GENERATE = 2 /* algorithms 1 and 6: a new key */
} lc_ml_dsa_operation;

/* One operation. All memory is host memory, at any alignment. */
typedef struct lc_ml_dsa_message {
  /* To sign: a private key. To verify: any. To make a key: NULL. */
  const lc_ml_dsa_key *key;
  /* What is signed, by lc_ml_dsa_job.encoding: with LC_MESSAGE_PURE the message, which the
   * context string precedes (algorithms 2 and 3); with LC_MESSAGE_RAW the message M' of
   * algorithms 7 and 8; with LC_MESSAGE_MU mu itself, 64 bytes, which the caller has computed.
   * It is hashed before the call returns, on the calling thread, and need not stay. */
  const void *message;
  size_t message_bytes;
  const void *context;
  size_t context_bytes; /* 0 to 255; 0 but with LC_MESSAGE_PURE */
  /* 32 bytes, copied before the call returns. To sign: rnd of FIPS 204, or NULL: zeros if
   * lc_ml_dsa_job.deterministic is not 0, else random numbers. To make a key: its seed, or
   * NULL: random numbers. */
  const void *random;
  /* To sign: where the signature goes. To verify: the signature, which is only read. It stays
   * until the job is over, as do the places below. What a job writes must not overlap anything else
   * that it writes: LC_ERROR_ARGUMENT. */
  void *signature;
  /* To verify: the bytes of the signature; any other number than that of the set makes it wrong.
   * To sign: the room there. */
  size_t signature_bytes;
  /* To make a key: where it goes. */
  void *public_key, *private_key;
} lc_ml_dsa_message;

/* Operations of one kind. To sign and to verify, the keys may be of any sets. */
typedef struct lc_ml_dsa_job {
  size_t struct_size;
  lc_ml_dsa_operation operation;
  /* LC_MESSAGE_PRE_HASH is LC_ERROR_UNSUPPORTED. */
  lc_message_encoding encoding;
  lc_ml_dsa_set set; /* of new keys */
  int deterministic;
  /* The device to use, selected or not (index 0 needs has_device = 1); LC_ANY_DEVICE, or 0 without
   * has_device: Lanecrypt chooses; LC_CPU: no device. */
  uint32_t device;
  const lc_ml_dsa_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_ml_dsa_message) */
  /* To verify: a byte for each message, which is 1 if its signature is right, when the job has
   * ended with LC_OK, and 0 in every other case. They overlap no message, context or signature.
   * Otherwise NULL. */
  uint8_t *verdicts;
  /* Where the seeds of new keys come from, as lc_ml_dsa_parts has it for signatures. */
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  /* Not 0: the caller has set `device`. This tells device 0 from a field that was left zero. */
  int has_device;
} lc_ml_dsa_job;

/* Runs a job and waits for it. result may be NULL. A wrong signature is no error: see verdicts.
 * A signature that a device made is verified there before it is given out, and the CPU makes
 * again one that is wrong. */
LC_API lc_status lc_ml_dsa_run(lc_context *context, const lc_ml_dsa_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. Keys are kept. */
LC_API lc_status lc_ml_dsa_submit(lc_context *context, const lc_ml_dsa_job *job,
                                  const lc_completion *completion, lc_ticket **ticket);

/* Where a single signature ends sooner (with lc_options.service, whether by the service), for a
 * caller who can also make it himself: as lc_rsa_prefers_device() and lc_rsa_report_cpu_time() for
 * RSA. */
LC_API int lc_ml_dsa_prefers_device(lc_context *context, lc_ml_dsa_set set, uint32_t in_line);
LC_API void lc_ml_dsa_report_cpu_time(lc_context *context, lc_ml_dsa_set set, uint64_t nanoseconds);

/* ---- Hashes ------------------------------------------------------------ */

typedef enum lc_hash {
  LC_SHA_224 = 0, /* FIPS 180-4 */
  LC_SHA_256 = 1,
  LC_SHA_384 = 2,
  LC_SHA_512 = 3,
  LC_SHA3_224 = 4, /* FIPS 202 */
  LC_SHA3_256 = 5,
  LC_SHA3_384 = 6,
  LC_SHA3_512 = 7,
  LC_SHAKE_128 = 8, /* FIPS 202; digests of any length, 32 bytes if none is given */
  LC_SHAKE_256 = 9, /* the same; 64 bytes */
  /* BLAKE3; digests of any length, 32 bytes if none is given. */
  LC_BLAKE3 = 10,
  LC_BLAKE3_KEYED = 11,      /* with a key of 32 bytes */
  LC_BLAKE3_DERIVE_KEY = 12, /* derives keys from messages; the context is the job's text */
  /* RFC 9162, section 2.1.1, with SHA-256: the root of the tree whose leaves are leaf_bytes of
   * the message each, the last one what is left. */
  LC_MERKLE_SHA_256 = 13,
  /* SP 800-185, section 6; leaf_bytes is the block size B and the text the customization
   * string S. Digests of any length; 32 bytes for 128 and 64 for 256 if none is given. */
  LC_PARALLEL_HASH_128 = 14,
  LC_PARALLEL_HASH_256 = 15,
  LC_PARALLEL_HASH_XOF_128 = 16,
  LC_PARALLEL_HASH_XOF_256 = 17
} lc_hash;

/* One message, at any alignment, of any length, 0 too, and the place of its digest, of
 * digest_bytes of the job, which overlaps no message and no other digest of the job: otherwise
 * LC_ERROR_ARGUMENT. As for lc_message, one memory at two addresses is not detected. */
typedef struct lc_hash_message {
  const void *in; /* may be NULL if length is 0 */
  uint64_t length;
  void *digest;
} lc_hash_message;

/* Messages, each with a digest of its own, by one hash. Many messages go side by side; of one
 * message only BLAKE3, the Merkle tree and ParallelHash hash many parts at once. */
typedef struct lc_hash_job {
  size_t struct_size;
  lc_hash hash;
  lc_memory memory; /* of every message */
  /* Who does the job:
   * - The index of a device, selected or not. Index 0 needs has_device = 1.
   * - LC_CPU: several cores, by OpenSSL, and BLAKE3 by this library. Host memory only.
   * - LC_ANY_DEVICE, or 0 without has_device: Lanecrypt chooses. With host memory the CPU does less
   *   than 1 MiB, and what is mostly one message of a hash that is no tree. With device memory all
   *   messages are on one device: that of lc_alloc_device(), or else device 0. */
  uint32_t device;
  /* As lc_cipher_job.stream, but not LC_STREAM_PER_THREAD, which is LC_ERROR_UNSUPPORTED. */
  void *stream;
  const lc_hash_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_hash_message) */
  /* Bytes of every digest. 0: the usual number. Any other, up to 2^30, only where lc_hash says
   * so. */
  uint64_t digest_bytes;
  /* Where digests go. Host memory: they are there when the job is over. LC_MEMORY_DEVICE, for
   * messages in device memory: on the messages' device, in the order of the stream; not for
   * ParallelHash, whose last step is the CPU's. */
  lc_memory digest_memory;
  /* The Merkle tree and ParallelHash: bytes of a leaf or block, at least 1. 0 for all others.
   * Devices take messages of host memory only with leaves of up to 1 MiB; the CPU does others. */
  uint64_t leaf_bytes;
  /* LC_BLAKE3_KEYED: 32 bytes, host memory, copied and wiped when the job is over. NULL for all
   * others. */
  const void *key;
  size_t key_bytes;
  /* LC_BLAKE3_DERIVE_KEY: the context. ParallelHash: the customization string. Up to 2^20 bytes
   * of host memory, copied. */
  const void *text;
  size_t text_bytes;
  /* Not 0: the caller has set `device`. This tells device 0 from a field that was left zero. */
  int has_device;
} lc_hash_job;

/* Runs a job and waits for it. result may be NULL; its operations are messages. With messages in
 * host memory, and unless lc_options.verify is LC_VERIFY_OFF, the CPU computes one short message's
 * digest again, and of each tree one leaf and what leads from it to the root. If these differ the
 * device is lost, and another or the CPU does the job again. With LC_VERIFY_FULL it computes all
 * digests again. Jobs in device memory are not checked; no other device and no CPU takes them
 * over. */
LC_API lc_status lc_hash_run(lc_context *context, const lc_hash_job *job, lc_result *result);
/* Starts a job, as lc_submit() does. The list of messages, the key and the text are copied before
 * it returns. Messages and digests must stay until the job is over. */
LC_API lc_status lc_hash_submit(lc_context *context, const lc_hash_job *job,
                                const lc_completion *completion, lc_ticket **ticket);

/* ---- Calibration -------------------------------------------------------- */

typedef enum lc_tune_depth {
  LC_TUNE_STORED = 0, /* only what is known already */
  LC_TUNE_QUICK = 1,  /* what may gain in one message; about a second on a GPU */
  LC_TUNE_FULL = 2    /* every mode and key, ordinary and pinned memory; longer */
} lc_tune_depth;

/* One request in place, measured on a device and on the CPU with nothing else under way.
 * Times in nanoseconds. */
typedef struct lc_tune_point {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction; /* LC_ENCRYPT where both are the same */
  uint32_t key_bytes;
  int pinned;             /* 1 in memory of lc_alloc_pinned(), 0 in ordinary */
  uint32_t streams;       /* messages */
  uint64_t bytes;         /* of all messages */
  uint64_t device_ns;     /* by the device, until the call was over */
  uint64_t device_cpu_ns; /* CPU time of all threads of this process meanwhile */
  uint64_t cpu_ns;        /* by OpenSSL on one core */
  uint64_t cores_ns;      /* by LC_CPU on several; 0: they do not share such work or memory */
} lc_tune_point;

/* Measures device `index`, and the CPU beside it, and keeps the result under XDG_CACHE_HOME
 * for this machine, device and version. This context goes by it at once, and so do all that
 * look for devices later. Nothing else should run meanwhile. on_point hears of each point, on
 * the calling thread; it may be NULL. If it returns other than 0, the call ends with
 * LC_ERROR_STOPPED, and nothing is kept. With LC_TUNE_STORED nothing is measured, and
 * LC_ERROR_UNSUPPORTED says that nothing is known. */
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

/* Where a request should run, for a caller who can also do it by OpenSSL. The answer goes by
 * lc_options.prefer, by the request's kind and size, by what was measured, and by what waits
 * for devices now. For a wrong question, and for less than 64 KiB, it is the CPU.
 * Until 1 GiB of requests has been asked about, nothing touches a device. Then other programs
 * look for devices and measure what is not known (LC_TUNE_QUICK, and keep it), and nobody
 * waits for them. Where a device then is sooner, one call waits until it is open. */
LC_API lc_choice lc_cipher_choose(lc_context *context, const lc_cipher_question *question);
/* The same, and where it was decided for: *device is what lc_cipher_job.device then is. With
 * LC_CHOICE_DEVICE it is that device, or LC_ANY_DEVICE where all that are selected share the
 * request; else LC_CPU. device may be NULL. */
LC_API lc_choice lc_cipher_place(lc_context *context, const lc_cipher_question *question,
                                 uint32_t *device);

/* Whether a selected device is open and has passed its tests: 1 or 0. With opens_now 0 it
 * touches nothing. Otherwise, where none is open, other programs look for devices, and nobody
 * waits for them. A later call that finds the devices known opens the first that can be
 * used. */
LC_API int lc_is_open(lc_context *context, int opens_now);

/* ---- Counters ---------------------------------------------------------- */

typedef struct lc_counters {
  size_t struct_size;
  uint64_t jobs;     /* jobs of which at least one byte ran here */
  uint64_t bytes;    /* bytes that ran here */
  uint64_t launches; /* kernels started; 0 for the CPU */
  uint64_t failures; /* launches, copies, self-tests or checks that failed */
  /* Operations of RSA, SLH-DSA and ML-DSA that ran here, and rounds of tests of primes. */
  uint64_t operations;
} lc_counters;

/* What device `index`, or LC_CPU, has done since the context was opened.
 * Self-tests are not counted, except where they fail. */
LC_API lc_status lc_counters_get(lc_context *context, uint32_t index, lc_counters *counters);

#ifdef __cplusplus
}
#endif

#include "lanecrypt/lanecrypt_0_1.h"

#endif
