// What LANECRYPT_GL asks for: "shaders=fragment", "xor=table8,gather=multi".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/status.h"

namespace lanecrypt::device::gl {

enum class Shaders {
  kBest,     // compute shaders where the driver has them, else fragment shaders
  kCompute,  // or none
  kFragment,
};

// How ECB is encrypted by fragment shaders. All but kInteger are what chips
// without integers did, for comparison: their tables are at addresses that
// depend on what is secret.
enum class Xor {
  kInteger,
  kTable8,  // a table of all pairs of bytes
  kTable4,  // of nibbles
  kRaster,  // the logic operation of the raster units; needs desktop OpenGL
};

// Where the four columns of a block are: in four textures, or in one as four
// texels in a row or as two by two.
enum class Gather { kMulti, kRow, kSquare };

struct Settings {
  Shaders shaders = Shaders::kBest;
  Xor xor_by = Xor::kInteger;
  Gather gather = Gather::kMulti;
  bool rotates = true;  // one table and its rotations, or four tables
};

// LC_ERROR_ARGUMENT, with what can be asked for, where a word is not known.
Result<Settings> read_settings();

}  // namespace lanecrypt::device::gl
