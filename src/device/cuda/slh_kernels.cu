// The kernels of SLH-DSA, for nvcc.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all_slh.h"
