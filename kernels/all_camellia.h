// The kernels of Camellia. LC_BLOCK_FORM, where it is set, says which: 0 the keys, 1 and 4 the
// forms with so many tables, 32 the bitsliced form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 0
#include "kernels/camellia/camellia_key.h"
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 1
#define BLOCK_TABLES 1
#include "kernels/camellia/camellia_table.h"
#undef BLOCK_TABLES
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 4
#define BLOCK_TABLES 4
#include "kernels/camellia/camellia_table.h"
#ifdef HAS_KEY_SLOT
#define BLOCK_KEY_SLOT
#include "kernels/camellia/camellia_table.h"
#undef BLOCK_KEY_SLOT
#endif
#undef BLOCK_TABLES
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 32
#include "kernels/camellia/camellia_bitslice.h"
#ifdef HAS_KEY_SLOT
#define BLOCK_KEY_SLOT
#include "kernels/camellia/camellia_bitslice.h"
#undef BLOCK_KEY_SLOT
#endif
#endif
