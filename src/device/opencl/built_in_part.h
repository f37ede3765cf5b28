// A part of the kernels as it is built in: the text that cmake/bundle_kernels.py made from
// kernels/all_PART.h or, for a cipher PART, from kernels/cipher_forms.inc.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/opencl/program.h"

#define LC_BUNDLE(part)                                   \
  extern "C" {                                            \
  extern const char lanecrypt_opencl_##part[];            \
  extern const size_t lanecrypt_opencl_##part##_bytes;    \
  extern const char lanecrypt_opencl_##part##_sha256[65]; \
  }

// A ProgramPart: the prefix of its kernels' names, the part, and options for the compiler.
#define LC_PART(prefix, part, options)                                  \
  ProgramPart {                                                         \
    prefix, {lanecrypt_opencl_##part, lanecrypt_opencl_##part##_bytes}, \
        {lanecrypt_opencl_##part##_sha256, 64}, options                 \
  }
