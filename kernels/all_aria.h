// The kernels of ARIA. LC_BLOCK_FORM, where it is set, says which: 0 the keys, 1 and 4 the
// forms with so many tables, 32 the bitsliced form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 0
#include "kernels/aria/aria_key.h"
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 1
#define BLOCK_TABLES 1
#include "kernels/aria/aria_table.h"
#undef BLOCK_TABLES
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 4
#define BLOCK_TABLES 4
#include "kernels/aria/aria_table.h"
#ifdef HAS_KEY_SLOT
#define BLOCK_KEY_SLOT
#include "kernels/aria/aria_table.h"
#undef BLOCK_KEY_SLOT
#endif
#undef BLOCK_TABLES
#endif

#if !defined(LC_BLOCK_FORM) || LC_BLOCK_FORM == 32
#include "kernels/aria/aria_bitslice.h"
#ifdef HAS_KEY_SLOT
#define BLOCK_KEY_SLOT
#include "kernels/aria/aria_bitslice.h"
#undef BLOCK_KEY_SLOT
#endif
#endif
