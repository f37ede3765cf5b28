// Every kernel, for a target that compiles them all from one source. A target
// that can run no table form defines LC_NO_TABLE_KERNELS; one that cannot run
// the four-table form, LC_NO_TABLE4_KERNELS.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aead_check.h"
#include "aes_bitslice.h"
#include "aes_bitslice_ccm.h"
#include "aes_bitslice_feedback.h"
#include "aes_bitslice_xts.h"
#include "aes_key.h"
#include "ghash.h"
#include "poly1305.h"
#ifdef LC_BIT_MATRIX_KERNELS
#include "ghash_matrix.h"
#include "poly1305_matrix.h"
#endif

#include "aes_bitslice_modes.h"
#ifdef HAS_KEY_SLOT
#define AES_KEY_SLOT
#include "aes_bitslice_modes.h"
#undef AES_KEY_SLOT
#endif

#ifndef LC_NO_TABLE_KERNELS
#define AES_TABLES 1
#include "aes_table.h"
#undef AES_TABLES
#ifndef LC_NO_TABLE4_KERNELS
#define AES_TABLES 4
#include "aes_table.h"
#ifdef HAS_KEY_SLOT
#define AES_KEY_SLOT
#include "aes_table.h"
#undef AES_KEY_SLOT
#endif
#undef AES_TABLES
#endif
#endif
