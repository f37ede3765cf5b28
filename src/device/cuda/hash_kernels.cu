// The kernels of hashes, for nvcc.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all_hash.h"
