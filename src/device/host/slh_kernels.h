// The kernels of SLH-DSA as the emulator compiles them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/all_slh.h"
