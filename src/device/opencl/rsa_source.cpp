// The kernels of RSA for OpenCL: kernels/all_rsa.h, one instance per part.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/built_in_part.h"

LC_BUNDLE(rsa)

namespace lanecrypt::device::opencl {

// The kernels with `limbs` limbs per thread.
#define LC_RSA_PART(limbs) LC_PART("rsa_u32_" #limbs "_", rsa, " -DLC_RSA_ONLY=" #limbs)

ProgramSource rsa_source() {
  return {LC_RSA_PART(20),
          LC_RSA_PART(39),
          LC_RSA_PART(40),
          LC_RSA_PART(58),
          LC_RSA_PART(78),
          LC_RSA_PART(116),
          LC_RSA_PART(156),
          LC_RSA_PART(232),
          LC_RSA_PART(312),
          LC_PART("rsa_u32_thread_per_number_", rsa, " -DLC_RSA_ONLY=1"),
          LC_PART("", rsa, " -DLC_RSA_ONLY=0")};
}

#undef LC_RSA_PART

}  // namespace lanecrypt::device::opencl
