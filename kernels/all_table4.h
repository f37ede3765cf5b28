// The kernels of AES with four tables, whose names begin with aes_table4_.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define AES_TABLES 4
#include "kernels/aes/table/aes_table.h"
#ifdef HAS_KEY_SLOT
#define AES_KEY_SLOT
#include "kernels/aes/table/aes_table.h"
#undef AES_KEY_SLOT
#endif
#undef AES_TABLES
