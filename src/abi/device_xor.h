/* What the library has for `lanecrypt bench papers` alone, to be measured. No part of
 * the C ABI: this header is not installed, the symbol has the version
 * LANECRYPT_PRIVATE, and both may change with any release.
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

#ifdef __cplusplus
}
#endif
