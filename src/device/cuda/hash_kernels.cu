// The kernels of hashes as nvcc reads them.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all_hash.h"
