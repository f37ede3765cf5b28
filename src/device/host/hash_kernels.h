// The kernels of hashes, for the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/all_hash.h"
