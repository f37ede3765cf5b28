// The kernels of RSA, for nvcc.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number/subgroup.h"
#ifdef FAST_FP64
#define LC_RSA_FP64
#endif
#define LC_RSA_U32
#include "kernels/all_rsa.h"
