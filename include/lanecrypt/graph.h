/*
 * lanecrypt/graph.h: cipher jobs as nodes of CUDA graphs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Nonce reuse: no launch of a graph encrypts with a nonce of another launch. The caller must make
 *   sure that nothing else uses these nonces with this key, and that no two launches run at the
 *   same time. CUDA ensures the latter if the graph is instantiated once.
 * - Output before the tag: the host does not see the verdicts of a launch. A later node of the
 *   graph must read them, or the host must copy them, before the text is used.
 * - Key lifetime: the device keeps the key until lc_graph_job_free() or lc_close(). The graph must
 *   not be launched after that.
 * - After an error of lc_capture(), a part of the job may be in the stream: do not launch that
 *   graph.
 *
 * Preconditions
 * - A CUDA device, and a stream of its primary context that is being captured.
 * - Text, tags and verdicts in device memory, as segments.
 *
 * Example: capture the encryption of 16 segments of 1 MiB, in place, for up to 2^20 launches. The
 * program calls cuStreamBeginCapture() before, and cuStreamEndCapture() after.
 *
 *     #include <lanecrypt/graph.h>
 *
 *     lc_status capture(lc_context *context, void *stream, void *text, void *tags, void *verdict,
 *                       const uint8_t key[32], lc_graph_job **captured) {
 *       uint8_t nonce[12] = {0};  // no other text has this key
 *       lc_segments segments = {.struct_size = sizeof segments, .key = key, .in = text,
 *                               .out = text, .text_bytes = 16 << 20, .segment_bytes = 1 << 20,
 *                               .tags = tags, .nonce = nonce, .number = {.at = 4, .bytes = 8}};
 *       lc_cipher_job job = {.struct_size = sizeof job, .cipher = LC_AES_GCM, .key_bytes = 32,
 *                            .direction = LC_ENCRYPT, .memory = LC_MEMORY_DEVICE, .stream = stream,
 *                            .tag_memory = LC_MEMORY_DEVICE, .segments = &segments};
 *       lc_graph_update update = {.struct_size = sizeof update, .count = 1 << 20,
 *                                 .verdict = verdict};
 *       return lc_capture(context, &job, &update, captured);
 *     }
 */
#ifndef LANECRYPT_GRAPH_H
#define LANECRYPT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/cipher.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A job that a CUDA graph repeats at each launch: the device memory that the graph's nodes refer
 * to, with the key in it. */
typedef struct lc_graph_job lc_graph_job;

/* What changes from one launch of the graph to the next. Addresses are on the messages' device, at
 * any alignment. */
typedef struct lc_graph_update {
  size_t struct_size;
  /* Encryption: the number of launches that encrypt. The segments of the first launch are numbered
   * from `segments->number.first`, and each later launch continues after the last one. All these
   * numbers must fit in their bytes. */
  uint64_t count;
  /* The address of the nonce or IV of the first segment, 12 bytes, or 16 for CTR and ChaCha20; or
   * NULL. Encryption writes it there at each launch. Decryption reads it at each launch, and counts
   * on from the number in it; with NULL each launch uses the nonces that lc_submit() would use. */
  void *nonce;
  /* Encryption: the address of one byte. Each launch sets it to 1; or to 0 after `count` launches:
   * it then encrypts nothing, and sets the output, the tags and the nonce to zeros, in place too.
   * Decryption: NULL; it has lc_cipher_job.verdicts. */
  void *verdict;
} lc_graph_update;

/* Adds a job to `job->stream`, which the program captures into a graph in any mode
 * (cuStreamBeginCapture), and stores its handle in `*captured`. Each launch of the graph then does
 * the job with what its memory contains at that time, without the host. Waits for nothing in the
 * stream. Any thread may call it, but not a completion's callback.
 *
 * The job has 1 to 65,536 segments and at least one byte of text, of GCM (with AES, SM4 or ARIA) or
 * ChaCha20-Poly1305 with nonces of 12 bytes and at most 4,096 bytes of additional data, or of CTR
 * (with any block cipher) or ChaCha20. Text, tags and verdicts are in device memory, and the stream
 * is not a default stream. Messages, CCM, other nonces and devices that are not CUDA's are
 * LC_ERROR_UNSUPPORTED. What is wrong in any job is LC_ERROR_ARGUMENT, and so are a mode without
 * segments, such as CBC, a job without text or stream, and a stream that is not being captured.
 *
 * Additional data in device memory (lc_segments.aad_memory) are read at each launch. Those in host
 * memory are copied here, and are the same at each launch. The number in them starts at
 * `aad_number.first` at each launch: unlike the nonces it does not continue, because it says where
 * in its text a segment is.
 *
 * Encryption is LC_ERROR_ARGUMENT if the nonces have no number, or too few numbers for `count`
 * launches. For CTR and ChaCha20, whose IV counts blocks, it also is if the blocks of a segment
 * reach the number, even for a single segment, because the next launch has the next number.
 * Decryption is not checked for this. In these two modes it computes the same as encryption: never
 * use it to encrypt. */
LC_API lc_status lc_capture(lc_context *context, const lc_cipher_job *job,
                            const lc_graph_update *update, lc_graph_job **captured);
/* Wipes and frees what the graph refers to. The graph must not be running, and must not be launched
 * again. NULL is allowed; a job of another context is LC_ERROR_ARGUMENT. */
LC_API lc_status lc_graph_job_free(lc_context *context, lc_graph_job *captured);

#ifdef __cplusplus
}
#endif

#endif
