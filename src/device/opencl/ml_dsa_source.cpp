// The kernels of ML-DSA for OpenCL: kernels/all_ml_dsa.h, one parameter set per part.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/built_in_part.h"

LC_BUNDLE(ml_dsa)

namespace lanecrypt::device::opencl {

ProgramSource ml_dsa_source() {
  return {LC_PART("ml_dsa_44_", ml_dsa, " -DLC_ML_DSA_ONLY=44"),
          LC_PART("ml_dsa_65_", ml_dsa, " -DLC_ML_DSA_ONLY=65"),
          LC_PART("ml_dsa_87_", ml_dsa, " -DLC_ML_DSA_ONLY=87")};
}

}  // namespace lanecrypt::device::opencl
