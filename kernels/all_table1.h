// The kernels of AES with one table, whose names begin with aes_table1_.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define AES_TABLES 1
#include "kernels/aes/table/aes_table.h"
#undef AES_TABLES
