// AES by OpenGL without compute shaders: fragment shaders read data from textures and write
// results to framebuffers. It is only for comparison with papers of 2007, because the addresses
// of its table lookups depend on secrets. lanecrypt-bench has it in builds with
// LANECRYPT_DIAGNOSTICS, through liblanecrypt_gl2007.so, which is the library with this device
// added. The library itself does not have it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::bench::gl2007 {

// Whether this build has the functions below. A release does not.
#ifdef LANECRYPT_GL2007
inline constexpr bool kIsHere = true;
#else
inline constexpr bool kIsHere = false;
#endif

// How two bytes are XORed in ECB encryption. CTR always uses integers.
enum class Xor {
  kInteger,
  kTable8,  // a table of all pairs of bytes
  kTable4,  // a table of all pairs of nibbles
  kRaster,  // the logic operation of the raster units; needs desktop OpenGL
};

// How the four columns of a block are stored: in four textures, or in one texture as four texels
// in a row or as two by two.
enum class Gather { kMulti, kRow, kSquare };

struct Way {
  Xor xor_by = Xor::kInteger;
  Gather gather = Gather::kMulti;
  bool rotates = true;  // one table of MixColumns and its rotations, or four tables
  uint32_t most_texture_side =
      UINT32_MAX;  // for tests, to limit the rows of a texture; at least 1,024
};

}  // namespace lanecrypt::bench::gl2007

// Like functions of the C ABI, these report errors by their status and lc_last_error().
extern "C" {

// Opens a context with one device, number 0: the OpenGL device with this id, such as "gl:0". It
// supports AES-ECB and AES-CTR encryption in the given way. lc_device_test() says whether the
// driver supports it.
LC_API lc_status lc_gl2007_open(const char *id, const lanecrypt::bench::gl2007::Way *way,
                                lc_context **context);

// XORs `bytes` bytes of `a` and `b` into `out`, in the way of the context. All three are memory
// of lc_alloc_device(). The operation is repeated `times` times, an odd number, without copies in
// between. `bytes` is a multiple of 16, and `out` overlaps neither `a` nor `b`.
LC_API lc_status lc_gl2007_xor(lc_context *context, const void *a, const void *b, void *out,
                               uint64_t bytes, uint32_t times);

// Draws one fragment per 16 bytes of `out`, which is memory of lc_alloc_device(). Each fragment
// writes four 32-bit words: the multiprocessor on which it ran, the number of multiprocessors,
// and two words without meaning. Returns LC_ERROR_UNSUPPORTED if fragments cannot query that: it
// takes GL_NV_shader_thread_group and desktop OpenGL, which Xor::kRaster selects.
LC_API lc_status lc_gl2007_places(lc_context *context, void *out, uint64_t bytes);

}  // extern "C"
