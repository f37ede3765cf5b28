/*
 * lanecrypt/memory.h: pinned host memory, device memory, and copies between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Lifetime: memory must outlive every job that uses it. lc_close() frees what is left.
 * - Fork: a child must not use memory that its parent allocated here.
 * - A pointer of lc_alloc_device() is an address on the device. The host must not access it.
 *
 * Preconditions
 * - lc_alloc_device() needs a device. lc_alloc_pinned() works without one.
 *
 * Example: pinned memory.
 *
 *     #include <lanecrypt/memory.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *
 *     int main(void) {
 *       lc_context *context = NULL;
 *       void *buffer = NULL;
 *       if (lc_open(NULL, &context) != LC_OK ||
 *           lc_alloc_pinned(context, 1 << 20, &buffer) != LC_OK)
 *         return fprintf(stderr, "%s\n", lc_last_error()), 1;
 *       memset(buffer, 'a', 1 << 20);  // give it to a job as `in` and `out`
 *       lc_free_pinned(context, buffer);
 *       lc_close(context);
 *       return 0;
 *     }
 */
#ifndef LANECRYPT_MEMORY_H
#define LANECRYPT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "lanecrypt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the data of a job are. */
typedef enum lc_memory {
  LC_MEMORY_HOST = 0,   /* any memory of the process, pinned or not */
  LC_MEMORY_DEVICE = 1, /* memory on one device; nothing is copied */
  /* Cipher jobs only: the input is memory on one device, and the output any memory of the process,
   * pinned or not; see lc_cipher_job.memory. */
  LC_MEMORY_DEVICE_TO_HOST = 2
} lc_memory;

/* Allocates `bytes` of zeroed host memory, aligned to a page, that every device of the context
 * reads and writes at the full speed of the bus. If no device can pin memory, it is ordinary
 * memory. The caller frees it with lc_free_pinned(). 0 bytes are LC_ERROR_ARGUMENT. */
LC_API lc_status lc_alloc_pinned(lc_context *context, size_t bytes, void **pointer);
/* Frees memory of lc_alloc_pinned(). NULL is allowed. */
LC_API void lc_free_pinned(lc_context *context, void *pointer);

/* Allocates `bytes` on device `index`. `*pointer` is a device address, aligned to 256 bytes, for
 * messages with LC_MEMORY_DEVICE and for the copies below. On a CUDA device it is an ordinary CUDA
 * pointer of the device's primary context. The caller frees it with lc_free_device(). 0 bytes are
 * LC_ERROR_ARGUMENT. */
LC_API lc_status lc_alloc_device(lc_context *context, uint32_t index, uint64_t bytes,
                                 void **pointer);
/* Frees memory of lc_alloc_device(). All jobs that use it must have ended. NULL is allowed. */
LC_API lc_status lc_free_device(lc_context *context, uint32_t index, void *pointer);
/* Copies `bytes` from host memory to memory of lc_alloc_device() or, on CUDA, to any device pointer
 * of the primary context. Returns when the copy is done. */
LC_API lc_status lc_copy_to_device(lc_context *context, uint32_t index, void *device_pointer,
                                   const void *host_pointer, uint64_t bytes);
/* The same from device memory to host memory. */
LC_API lc_status lc_copy_from_device(lc_context *context, uint32_t index, void *host_pointer,
                                     const void *device_pointer, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
