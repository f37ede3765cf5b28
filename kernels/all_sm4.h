// The kernels of SM4. LC_BLOCK_FORM, where it is set, says which: 0 the keys, 1 and 4 the
// forms with so many tables, 32 the bitsliced form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 0
#include "kernels/sm4/sm4_key.h"
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 1
#define BLOCK_TABLES 1
#include "kernels/sm4/sm4_table.h"
#undef BLOCK_TABLES
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 4
#define BLOCK_TABLES 4
#include "kernels/sm4/sm4_table.h"
#ifdef HAS_KEY_SLOT
#define BLOCK_KEY_SLOT
#include "kernels/sm4/sm4_table.h"
#undef BLOCK_KEY_SLOT
#endif
#undef BLOCK_TABLES
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 32
#include "kernels/sm4/sm4_bitslice.h"
#ifdef HAS_KEY_SLOT
#define BLOCK_KEY_SLOT
#include "kernels/sm4/sm4_bitslice.h"
#undef BLOCK_KEY_SLOT
#endif
#endif
