// The kernels of ML-DSA, for the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/all_ml_dsa.h"
