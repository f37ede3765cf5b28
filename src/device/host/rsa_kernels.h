// The kernels of RSA, for the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define LC_RSA_FP64
#define LC_RSA_U32
#include "kernels/all_rsa.h"
