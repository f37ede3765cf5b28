/* What the library has for `lanecrypt bench papers` alone, to be measured, where it is
 * built with LANECRYPT_DIAGNOSTICS, as no release is. No part of the C ABI: this header is
 * not installed, its symbols have the version LANECRYPT_PRIVATE, and all of it may change.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "lanecrypt/lanecrypt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* XORs `bytes` bytes of a and b, memory of lc_alloc_device() on device `index`, into
 * out, which overlaps neither, by what an OpenGL device XORs with in its fragment
 * shaders, and as LANECRYPT_GL has it (docs/HACKING.md): `times` times over, an odd
 * number, with nothing copied between. bytes is a multiple of 16. Devices of other
 * APIs: LC_ERROR_UNSUPPORTED. */
LC_API lc_status lc_device_xor(lc_context *context, uint32_t index, const void *a, const void *b,
                               void *out, uint64_t bytes, uint32_t times);

/* Draws a fragment for each 16 bytes of `out`, memory of lc_alloc_device() on device
 * `index`, and has it write four 32-bit words: on which multiprocessor it ran, of how
 * many, and two of no meaning. LC_ERROR_UNSUPPORTED where the driver tells fragments
 * nothing of that: it takes GL_NV_shader_thread_group, and so desktop OpenGL 4.3,
 * which the device has with LANECRYPT_GL=xor=raster. */
LC_API lc_status lc_device_fragment_places(lc_context *context, uint32_t index, void *out,
                                           uint64_t bytes);

#ifdef __cplusplus
}
#endif
