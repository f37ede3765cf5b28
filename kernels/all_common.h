// The kernels that every form of AES needs, and those that use no AES: the part of all.h
// that a device compiles whatever its form is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead/aead_check.h"
#include "kernels/aead/ghash.h"
#include "kernels/aead/poly1305.h"
#include "kernels/aes/aes_key.h"
#ifdef LC_BIT_MATRIX_KERNELS
#include "kernels/aead/ghash_matrix.h"
#include "kernels/aead/poly1305_matrix.h"
#endif
