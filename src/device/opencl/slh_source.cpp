// The kernels of SLH-DSA for OpenCL: kernels/all_slh.h, one instance per part.
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
          LC_PART("slh_shake_32_", slh, " -DLC_SLH_ONLY=5"),
          LC_PART("slh_sha2_16w4_", slh, " -DLC_SLH_ONLY=6"),
          LC_PART("slh_sha2_24w8_", slh, " -DLC_SLH_ONLY=7"),
          LC_PART("slh_sha2_32w4_", slh, " -DLC_SLH_ONLY=8"),
          LC_PART("slh_shake_16w4_", slh, " -DLC_SLH_ONLY=9"),
          LC_PART("slh_shake_24w8_", slh, " -DLC_SLH_ONLY=10"),
          LC_PART("slh_shake_32w4_", slh, " -DLC_SLH_ONLY=11")};
}

}  // namespace lanecrypt::device::opencl
