// The kernels of bitsliced AES, whose names begin with aes_bitslice_.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aes/bitslice/aes_bitslice.h"
#include "kernels/aes/bitslice/aes_bitslice_ccm.h"
#include "kernels/aes/bitslice/aes_bitslice_feedback.h"
#include "kernels/aes/bitslice/aes_bitslice_xts.h"

#include "kernels/aes/bitslice/aes_bitslice_modes.h"
#ifdef HAS_KEY_SLOT
#define AES_KEY_SLOT
#include "kernels/aes/bitslice/aes_bitslice_modes.h"
#undef AES_KEY_SLOT
#endif
