// The kernels of hashes as the emulator compiles them.
//
// SPDX-License-Identifier: Apache-2.0
#include "kernels/all_hash.h"
