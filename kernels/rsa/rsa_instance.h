// Compiles the kernels of rsa.h once, for the instance that these describe, and
// takes all of these back but RSA_FORM. No include guard.
//   RSA_FORM             how the instance's name begins
//   LANE_LIMBS           limbs of a lane, with which its name ends
//   RSA_POWER_RESIDENT   how many groups of its longest kernels a multiprocessor
//                        is to hold at a time; 2 where it is not defined
//   RSA_POWER_ONLY       defined: powers and tests of primes, no whole operations
//   RSA_NO_POWER         defined: only what RSA_POWER_ONLY leaves out
//   RSA_SQUARE_BLOCK     where RSA_LONE is defined: see montgomery.h
// With LC_RSA_ONLY only the instance that it names is compiled.
//
// SPDX-License-Identifier: Apache-2.0

#ifdef RSA_LONE
#define RSA_INSTANCE 1
#else
#define RSA_INSTANCE LANE_LIMBS
#endif

#ifndef RSA_POWER_RESIDENT
#define RSA_POWER_RESIDENT 2
#endif

#if !defined(LC_RSA_ONLY) || LC_RSA_ONLY == RSA_INSTANCE
#include "kernels/rsa/rsa.h"
#endif

#undef RSA_INSTANCE
#undef LANE_LIMBS
#undef RSA_POWER_RESIDENT
#undef RSA_POWER_ONLY
#undef RSA_NO_POWER
#undef RSA_SQUARE_BLOCK
