// The kernels of ML-DSA as nvcc reads them.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all_ml_dsa.h"
