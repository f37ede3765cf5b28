// The kernels of hashes for OpenCL: kernels/all_hash.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/built_in_part.h"

LC_BUNDLE(hash)

namespace lanecrypt::device::opencl {

ProgramSource hash_source() { return {LC_PART("hash_", hash, "")}; }

}  // namespace lanecrypt::device::opencl
