// The kernels of ciphers as nvcc reads them.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all.h"
