// What LANECRYPT_GL asks for: "shaders=fragment".
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

struct Settings {
  Shaders shaders = Shaders::kBest;
};

// LC_ERROR_ARGUMENT, with what can be asked for, where a word is not known.
Result<Settings> read_settings();

}  // namespace lanecrypt::device::gl
