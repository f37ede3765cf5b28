// The kernels of ciphers, for the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/all.h"
