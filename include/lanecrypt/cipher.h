/*
 * lanecrypt/cipher.h: jobs of AES, SM4, Camellia, ARIA and ChaCha20, with and without
 * authentication.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Nonce reuse: never encrypt two messages with the same nonce under one key. The ciphertexts then
 *   reveal the XOR of the plaintexts, and with GCM and ChaCha20-Poly1305 messages can be forged.
 *   Random nonces of 12 bytes are good for 2^32 messages under one key (SP 800-38D, section 8.3),
 *   which a device may encrypt in minutes. To encrypt more, count the nonces, or derive a key for
 *   each text. In CTR and ChaCha20 a message uses one counter value for each block. See
 *   lc_message.iv for what Lanecrypt detects.
 * - Output before the tag: while a job decrypts, an output in host memory may hold text that is not
 *   verified yet. Use it only after the job has ended with LC_OK, or with LC_ERROR_TAG for messages
 *   whose `message_status` is LC_OK.
 * - A zero-initialised lc_cipher_job names AES-ECB, which hides no patterns.
 * - Modes other than GCM, CCM and ChaCha20-Poly1305 do not detect changes.
 * - Lifetime: inputs and outputs must stay until the job has ended. Keys, IVs and messages are
 *   copied before lc_submit() returns.
 *
 * Preconditions
 * - Outputs overlap nothing but their own input (`out == in`): see lc_message.in.
 * - A message in device memory lies on the device that processes it.
 *
 * Example: encrypt a message in place with AES-256-GCM.
 *
 *     #include <lanecrypt/cipher.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       uint8_t key[32] = {1}, nonce[12] = {1}, tag[16], text[] = "a message";
 *       lc_context *context = NULL;
 *       lc_message message = {.key = key, .iv = nonce, .in = text, .out = text,
 *                             .length = sizeof text, .tag = tag};
 *       lc_cipher_job job = {.struct_size = sizeof job, .cipher = LC_AES_GCM,
 *                            .direction = LC_ENCRYPT, .key_bytes = sizeof key,
 *                            .messages = &message, .message_count = 1,
 *                            .message_size = sizeof message};
 *       if (lc_open(NULL, &context) != LC_OK || lc_run(context, &job, NULL) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       lc_close(context);
 *       return 0;
 *     }
 */
#ifndef LANECRYPT_CIPHER_H
#define LANECRYPT_CIPHER_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/core.h"
#include "lanecrypt/job.h"
#include "lanecrypt/memory.h"
#include "lanecrypt/segments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* AES is FIPS 197. Modes are those of SP 800-38A unless another standard is named. Messages may
 * have any length in whole bytes unless a comment says otherwise. LC_ERROR_UNSUPPORTED: this
 * version does not offer the cipher. */
typedef enum lc_cipher {
  /* Whole blocks. If messages of a job with this value have a tag or additional data, the job is
   * LC_ERROR_ARGUMENT: its cipher was probably left zero. */
  LC_AES_ECB = 0,
  LC_AES_CBC = 1, /* no padding: whole blocks */
  LC_AES_CTR = 2, /* the counter is the whole block of 128 bits, big-endian */
  /* IEEE 1619, SP 800-38E. `key_bytes` is 32 or 64: the key for the data, then the key for the
   * tweak. Encryption requires them to differ. The IV is the tweak of the first data unit,
   * little-endian; see `data_unit_bytes`. A message has at least 16 bytes. */
  LC_AES_XTS = 3,
  LC_AES_CFB128 = 4,
  /* CFB with segments of 8 bits and of 1 bit: done by the CPU, because no device has kernels for
   * it. LC_ERROR_UNSUPPORTED if only a device may do it. */
  LC_AES_CFB8 = 5,
  LC_AES_CFB1 = 6, /* whole bytes; the first bit of a byte is the most significant */
  LC_AES_OFB = 7,
  /* CBC with ciphertext stealing (addendum to SP 800-38A); at least 16 bytes */
  LC_AES_CBC_CS1 = 8,
  LC_AES_CBC_CS2 = 9,
  LC_AES_CBC_CS3 = 10,
  LC_AES_GCM = 11, /* SP 800-38D: with `aad` and `tag` */
  /* SP 800-38C: with `aad` and `tag`. The nonce has 7 to 13 bytes. The rest of 15 bytes holds the
   * length of the text, and so limits it. The tag has 4, 6, 8, 10, 12, 14 or 16 bytes. Each block
   * depends on the one before: submit many messages at once. */
  LC_AES_CCM = 12,
  /* RFC 8439. `key_bytes` is 32. The IV has 16 bytes, as in OpenSSL: the block counter of 32 bits,
   * little-endian, and the nonce. A text that passes block 2^32 carries into the nonce, and
   * continues with the keystream of another nonce. */
  LC_CHACHA20 = 13,
  LC_CHACHA20_POLY1305 = 14, /* RFC 8439, section 2.8: with `aad` and `tag`; `key_bytes` is 32 */
  /* The modes of SM4, Camellia and ARIA are as those of AES. SM4 (GB/T 32907-2016); `key_bytes` is
   * 16, except for XTS. */
  LC_SM4_ECB = 15,
  LC_SM4_CBC = 16,
  LC_SM4_CTR = 17,
  LC_SM4_CFB128 = 18,
  LC_SM4_OFB = 19,
  LC_SM4_GCM = 20,
  LC_SM4_CCM = 21,
  /* `key_bytes` is 32: the key for the data, then the key for the tweak, which may be equal. XTS is
   * that of IEEE 1619, as for AES. XTS_GB is that of GB/T 17964-2021, whose tweaks have the bits of
   * each byte in the opposite order; it is OpenSSL's default. */
  LC_SM4_XTS = 22,
  LC_SM4_XTS_GB = 23,
  /* Camellia (RFC 3713); `key_bytes` is 16, 24 or 32. */
  LC_CAMELLIA_ECB = 24,
  LC_CAMELLIA_CBC = 25,
  LC_CAMELLIA_CTR = 26,
  LC_CAMELLIA_CFB128 = 27,
  LC_CAMELLIA_OFB = 28,
  /* ARIA (RFC 5794); `key_bytes` is 16, 24 or 32. */
  LC_ARIA_ECB = 29,
  LC_ARIA_CBC = 30,
  LC_ARIA_CTR = 31,
  LC_ARIA_CFB128 = 32,
  LC_ARIA_OFB = 33,
  LC_ARIA_GCM = 34,
  LC_ARIA_CCM = 35
} lc_cipher;

typedef enum lc_direction { LC_ENCRYPT = 0, LC_DECRYPT = 1 } lc_direction;

/* The position of a part of a longer message of GCM or ChaCha20-Poly1305, for a caller that hashes
 * the additional data and computes and compares the tag itself. */
typedef struct lc_aead_part {
  /* Bytes of the message's text before this part: whole blocks, of 16 bytes in GCM and of 64 bytes
   * in ChaCha20-Poly1305. */
  uint64_t text_before;
  /* The running sum of the tag. The caller sets it to the sum before this part, zeros for nothing.
   * When the job has ended with LC_OK, it is the sum up to the end of this part. In GCM it is a
   * block of 16 bytes; in ChaCha20-Poly1305 a number modulo 2^130 - 5 as five uint32_t of 26 bits
   * each, the least significant first. With the block of lengths L, the tag of GCM is sum ^ L H ^
   * E(J0) (SP 800-38D, in the field of GHASH), and that of ChaCha20-Poly1305 is sum + L r + s (RFC
   * 8439). */
  uint32_t sum[8];
} lc_aead_part;

/* One independent message. */
typedef struct lc_message {
  /* Host memory, `key_bytes` of the job. Messages with the same pointer share one key schedule. */
  const void *key;
  /* Host memory, `iv_bytes` of the job: the IV, the nonce, the first counter block, or the tweak.
   * ECB ignores it, and it may be NULL.
   *
   * A job that encrypts with GCM, CCM or ChaCha20-Poly1305 is LC_ERROR_ARGUMENT if two of its
   * messages have the same nonce under the same key (the same bytes, at any address). If the nonces
   * do not ascend in the order of the messages, Lanecrypt may detect that only while the job runs:
   * the job then ends with this error, and the outputs and tags that it wrote in host memory are
   * zeros. Messages with `part` are not compared. The caller is responsible for nonces across jobs,
   * and for the IVs of all other modes. */
  const void *iv;
  /* `length` bytes each, at any alignment. `out == in` works in place. Any other overlap is
   * LC_ERROR_ARGUMENT, and nothing is done: what a job writes (outputs, tags that it makes,
   * `message_status`, `verdicts`) must not overlap anything else that it writes, or what it reads
   * (inputs, tags that it compares, additional data), of any message. One memory mapped at two
   * addresses, such as a file mapped twice, is not detected: the output is then undefined. */
  const void *in;
  void *out;
  /* Bytes. A multiple of 16 for ECB and CBC. 0 is allowed. */
  uint64_t length;
  /* GCM, CCM and ChaCha20-Poly1305: additional data, which are authenticated and not encrypted,
   * host memory. May be NULL if `aad_length` is 0. */
  const void *aad;
  uint64_t aad_length;
  /* GCM, CCM and ChaCha20-Poly1305: the tag, `tag_bytes` of the job, at any alignment, in host
   * memory or where lc_cipher_job.tag_memory says. Encryption writes it, decryption reads it. */
  void *tag;
  /* NULL, or the position of this part in a longer message. `in` and `out` are then host memory,
   * and there is neither `aad` nor `tag`. Decryption of a part verifies nothing: do not trust the
   * text before you have compared the tag. */
  lc_aead_part *part;
} lc_message;

/* Messages, or segments of one text, under one cipher and direction. */
typedef struct lc_cipher_job {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction;
  uint32_t key_bytes; /* of every message: 16, 24 or 32; see lc_cipher */
  /* The memory of every `in` and `out`. LC_MEMORY_DEVICE_TO_HOST: the device copies each piece to
   * `out` while it processes the next, at the speed of the bus if `out` is memory of
   * lc_alloc_pinned() or page-locked otherwise. For GCM, ChaCha20-Poly1305, ECB, CTR, XTS and
   * ChaCha20 (others: LC_ERROR_UNSUPPORTED). Everything but the input is then in host memory, tags
   * too: decryption of texts with their tags behind them is LC_ERROR_ARGUMENT. If a tag is wrong,
   * `out` is wiped before the job ends. Neither another device nor the CPU can take over. */
  lc_memory memory;
  /* What does the job:
   * - The index of a device, selected or not. Index 0 needs `has_device = 1`.
   * - LC_CPU: OpenSSL, with host memory. A job of 2 MiB or more takes up to 8 cores, except in
   *   authenticated modes. One core does a whole stream of a chaining mode, and a whole data unit
   *   of XTS.
   * - LC_ANY_DEVICE, or 0 without `has_device`: Lanecrypt chooses. With host memory all selected
   *   devices share a job of 32 MiB or more; each takes more of it when it is free. With input in
   *   device memory each message is processed on the device of lc_alloc_device() that it lies on,
   *   on all of these devices at once. Any other memory is assumed to be device 0's. */
  uint32_t device;
  /* LC_MEMORY_DEVICE on CUDA: a CUstream or cudaStream_t of the primary context. The job runs in
   * stream order, and lc_submit() returns once the work is in the stream. NULL: no stream, and not
   * CUDA's default stream either. The input must then be ready before the call, and the output is
   * ready when the job ends. For a default stream use LC_STREAM_LEGACY or LC_STREAM_PER_THREAD. A
   * stream that is being captured into a graph makes the job LC_ERROR_UNSUPPORTED: see
   * lc_capture(). LC_MEMORY_DEVICE_TO_HOST: the call waits until all work in the stream is done,
   * then starts the job. Later work in the stream does not wait for the job: do not change the
   * input before the job has ended. */
  void *stream;
  const lc_message *messages;
  size_t message_count;
  size_t message_size; /* sizeof(lc_message) */
  /* The length of every IV. 0: the usual length, 12 for GCM, CCM and ChaCha20-Poly1305 and 16 for
   * the others. Other lengths only if the standard of the mode allows them. */
  uint32_t iv_bytes;
  /* The length of every tag. 0: 16. */
  uint32_t tag_bytes;
  /* XTS: a message is a sequence of data units of this many bytes, from 16 to 16 MiB (2^20 blocks).
   * The last unit may be shorter, at least 16 bytes. The tweak of each unit is that of the one
   * before plus 1. 0: a message is one data unit, at most 16 MiB. */
  uint64_t data_unit_bytes;
  /* One for each message, or NULL; not with tags or verdicts in device memory. After a job that
   * decrypts with tags, LC_OK or LC_ERROR_TAG for each message. If the job ends with LC_ERROR_TAG,
   * the outputs of the messages with wrong tags were wiped, and all others are good. While the job
   * runs, an output in host memory may hold text that is not verified yet. An output in device
   * memory is wiped in stream order. */
  lc_status *message_status;
  /* The memory of the tags of messages in device memory. LC_MEMORY_DEVICE: the messages' device.
   * The host then does not see them. Encryption writes, decryption reads them in stream order. */
  lc_memory tag_memory;
  /* Decryption with tags, in device memory: the address of one byte for each message, on the
   * messages' device, or NULL. In stream order each becomes 1 if the tag is right, and 0 if it is
   * wrong, after the output was wiped. The host does not see the result: the job ends with LC_OK.
   * If it ends with another error, the bytes may be unchanged. Required for decryption if tags are
   * in device memory. */
  void *verdicts;
  /* Instead of `messages`, which is then NULL. What this header says of a message holds for a
   * segment. Errors, `message_status` and `verdicts` count the segments from 0. */
  const lc_segments *segments;
  /* Not 0: the caller has set `device`. This distinguishes device 0 from a field left zero. */
  int has_device;
  /* Not 0: the caller guarantees that outputs, and tags that the job makes, overlap nothing, for
   * example because it just allocated them. Lanecrypt then skips its check for overlap. */
  int outputs_are_apart;
} lc_cipher_job;

/* Runs a job and waits for it. `result` may be NULL. With LC_MEMORY_DEVICE and a stream it waits
 * for the device too. If a device fails with LC_FALLBACK_NONE, each piece of the output is either
 * complete or untouched. */
LC_API lc_status lc_run(lc_context *context, const lc_cipher_job *job, lc_result *result);

/* Starts a job. Messages, keys and IVs are copied before it returns; inputs and outputs must stay
 * until the job has ended. The first job of a device waits until the device is open. `completion`
 * may be NULL. `ticket` may be NULL if `completion` is not; then nothing needs to be freed. After
 * an error the job was not started, and the completion is not used.
 *
 * With LC_MEMORY_DEVICE and a stream it returns once the work is in the stream, and both may be
 * NULL: an error then means that the work, or a part of it, is not in the stream. Additional data
 * in host memory, and tags there that are compared, have been read by then. Up to 256 such calls
 * wait for nothing that the stream waits for. */
LC_API lc_status lc_submit(lc_context *context, const lc_cipher_job *job,
                           const lc_completion *completion, lc_ticket **ticket);

#ifdef __cplusplus
}
#endif

#endif
