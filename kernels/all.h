// Every block cipher kernel and the kernels of all_common.h, for a target that compiles them from
// one source. OpenCL compiles all_common.h and each form of a cipher separately, when a device
// first needs it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "all_common.h"

#define LC_CIPHER aes
#include "cipher_forms.inc"
#define LC_CIPHER aria
#include "cipher_forms.inc"
#define LC_CIPHER camellia
#include "cipher_forms.inc"
#define LC_CIPHER sm4
#include "cipher_forms.inc"
