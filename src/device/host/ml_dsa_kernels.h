// The kernels of ML-DSA as the emulator compiles them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/all_ml_dsa.h"
