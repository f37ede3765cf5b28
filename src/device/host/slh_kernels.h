// The kernels of SLH-DSA, for the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/all_slh.h"
