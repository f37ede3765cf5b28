// The kernels of ciphers for OpenCL: kernels/all.h, in separate parts.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/built_in_part.h"
#include "kernels/block/ciphers.h"

#define LC_BLOCK_BUNDLE(name, NAME) LC_BUNDLE(name)
BLOCK_CIPHERS(LC_BLOCK_BUNDLE)
#undef LC_BLOCK_BUNDLE
LC_BUNDLE(common)

namespace lanecrypt::device::opencl {

// The parts of a block cipher: its key expansion, and each form.
#define LC_BLOCK_PARTS(name, NAME)                           \
  LC_PART(#name "_expand_", name, " -DLC_BLOCK_FORM=0"),     \
      LC_PART(#name "_table1_", name, " -DLC_BLOCK_FORM=1"), \
      LC_PART(#name "_table4_", name, " -DLC_BLOCK_FORM=4"), \
      LC_PART(#name "_bitslice_", name, " -DLC_BLOCK_FORM=32"),

ProgramSource ciphers_source() { return {BLOCK_CIPHERS(LC_BLOCK_PARTS) LC_PART("", common, "")}; }

#undef LC_BLOCK_PARTS

}  // namespace lanecrypt::device::opencl
