// The kernels of ciphers, for nvcc.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all.h"
