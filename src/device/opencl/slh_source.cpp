// The kernels of SLH-DSA, as OpenCL compiles them: kernels/all_slh.h, an instance at a time.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/built_in_part.h"

LC_BUNDLE(slh)

namespace lanecrypt::device::opencl {

ProgramSource slh_source() {
  return {LC_PART("slh_sha2_16_", slh, " -DLC_SLH_ONLY=0"),
          LC_PART("slh_sha2_24_", slh, " -DLC_SLH_ONLY=1"),
          LC_PART("slh_sha2_32_", slh, " -DLC_SLH_ONLY=2"),
          LC_PART("slh_shake_16_", slh, " -DLC_SLH_ONLY=3"),
          LC_PART("slh_shake_24_", slh, " -DLC_SLH_ONLY=4"),
          LC_PART("slh_shake_32_", slh, " -DLC_SLH_ONLY=5")};
}

}  // namespace lanecrypt::device::opencl
