// The kernels that every form of AES needs, and those of no AES. The part of
// all.h that a device compiles whatever its form is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aead_check.h"
#include "ghash.h"
#include "kernels/aes/aes_key.h"
#include "poly1305.h"
#ifdef LC_BIT_MATRIX_KERNELS
#include "ghash_matrix.h"
#include "poly1305_matrix.h"
#endif
