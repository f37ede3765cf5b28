// The kernels of ML-DSA, for nvcc.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all_ml_dsa.h"
