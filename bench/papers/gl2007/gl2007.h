// AES by OpenGL as it was before compute shaders: by fragment shaders, whose data are textures, and
// whose results come back through framebuffers. It is for comparison with papers of 2007 alone:
// addresses of its tables depend on what is secret. lanecrypt-bench has it in builds with
// LANECRYPT_DIAGNOSTICS, by liblanecrypt_gl2007.so, which is the library with this device added.
// The library itself does not have it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::bench::gl2007 {

// Whether this program has what follows. A release does not.
#ifdef LANECRYPT_GL2007
inline constexpr bool kIsHere = true;
#else
inline constexpr bool kIsHere = false;
#endif

// What XORs two bytes when ECB is encrypted. CTR is encrypted by integers in every way.
enum class Xor {
  kInteger,
  kTable8,  // a table of all pairs of bytes
  kTable4,  // a table of all pairs of nibbles
  kRaster,  // the logic operation of the raster units; needs desktop OpenGL
};

// Where the four columns of a block are: in four textures, or in one as four texels in a row or as
// two by two.
enum class Gather { kMulti, kRow, kSquare };

struct Way {
  Xor xor_by = Xor::kInteger;
  Gather gather = Gather::kMulti;
  bool rotates = true;  // one table of MixColumns and its rotations, or four tables
  uint32_t most_texture_side = UINT32_MAX;  // a test has textures of fewer rows; 1,024 at least
};

}  // namespace lanecrypt::bench::gl2007

// As functions of the C ABI, these tell errors by their status and lc_last_error().
extern "C" {

// Opens a context with one device, number 0: that of OpenGL with this id, such as "gl:0". It does
// ECB and CTR encryption of AES in this way. lc_device_test() tells whether it can.
LC_API lc_status lc_gl2007_open(const char *id, const lanecrypt::bench::gl2007::Way *way,
                                lc_context **context);

// XORs `bytes` bytes of a and b, memory of lc_alloc_device(), into out, in the way of the context:
// `times` times over, an odd number, with nothing copied between. `bytes` is a multiple of 16, and
// out overlaps neither a nor b.
LC_API lc_status lc_gl2007_xor(lc_context *context, const void *a, const void *b, void *out,
                               uint64_t bytes, uint32_t times);

// Draws a fragment for each 16 bytes of `out`, memory of lc_alloc_device(), and has it write four
// 32-bit words: on which multiprocessor it ran, of how many, and two of no meaning.
// LC_ERROR_UNSUPPORTED if the driver tells fragments nothing of that: it takes
// GL_NV_shader_thread_group and desktop OpenGL, which Xor::kRaster has.
LC_API lc_status lc_gl2007_places(lc_context *context, void *out, uint64_t bytes);

}  // extern "C"
