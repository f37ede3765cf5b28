// Every kernel of RSA, for a target that compiles them from one source. A
// target defines LC_RSA_FP64 where its FP64 units are worth it (or can be
// tested), LC_RSA_U32, or both. Which instances there are, and what they are
// called, rsa/rsa_launch.cpp knows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/rsa/prime_layout.h"
#include "kernels/rsa/rsa_layout.h"

// Where all instances at once take a driver minutes to compile, LC_RSA_ONLY names
// one of LC_RSA_U32 by its limbs; 1 is the lone one, 0 what is of no instance.
#ifdef LC_RSA_ONLY
#define RSA_WANTED(limbs) ((limbs) == LC_RSA_ONLY)
#else
#define RSA_WANTED(limbs) 1
#endif

#if RSA_WANTED(0)
#include "kernels/rsa/prime_sieve.h"
#endif

#define RSA_PASTE(form, limbs, x) rsa_##form##_##limbs##_##x
#define RSA_PASTED(form, limbs, x) RSA_PASTE(form, limbs, x)
#define RSA_NAME(x) RSA_PASTED(RSA_FORM, LANE_LIMBS, x)
#define RSA_UNROLL UNROLL

#ifdef LC_RSA_FP64
#include "kernels/number/limbs_fp64.h"

#define RSA_LONE
#define RSA_ENTRIES_AHEAD 3
#define RSA_POWER_ONLY
#define RSA_FORM fp64_lone
#define LANE_LIMBS 10
#define RSA_SQUARE_BLOCK 10
#define RSA_POWER_RESIDENT 4
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_SQUARE_BLOCK
#undef RSA_POWER_RESIDENT
#define LANE_LIMBS 20
#define RSA_SQUARE_BLOCK 20
#define RSA_POWER_RESIDENT 3
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_SQUARE_BLOCK
#undef RSA_POWER_RESIDENT
#define LANE_LIMBS 30
#define RSA_SQUARE_BLOCK 5
#define RSA_POWER_RESIDENT 2
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define LANE_LIMBS 40
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_SQUARE_BLOCK
#undef RSA_POWER_RESIDENT
#undef RSA_FORM
#undef RSA_POWER_ONLY
#undef RSA_ENTRIES_AHEAD
#undef RSA_LONE

#ifndef LONE_TEAMS
#define RSA_POWER_RESIDENT 2
#define LANE_LIMBS 1
#define RSA_FORM fp64_wide_20
#define RSA_WIDE_LIMBS 20
#include "kernels/rsa/rsa_wide.h"
#undef RSA_WIDE_LIMBS
#undef RSA_FORM
#define RSA_FORM fp64_wide_30
#define RSA_WIDE_LIMBS 30
#include "kernels/rsa/rsa_wide.h"
#undef RSA_WIDE_LIMBS
#undef RSA_FORM
#undef LANE_LIMBS
#undef RSA_POWER_RESIDENT
#endif

#define RSA_FORM fp64
#ifndef LONE_TEAMS
#define LANE_LIMBS 5
#define RSA_POWER_RESIDENT 4
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_POWER_RESIDENT
#define LANE_LIMBS 10
#define RSA_POWER_RESIDENT 3
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_POWER_RESIDENT
#define LANE_LIMBS 15
#define RSA_POWER_RESIDENT 2
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define RSA_POWER_ONLY
#define LANE_LIMBS 20
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_POWER_ONLY
#undef RSA_POWER_RESIDENT
#else
#define RSA_POWER_RESIDENT 1
#define LANE_LIMBS 10
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define LANE_LIMBS 20
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define LANE_LIMBS 30
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define LANE_LIMBS 40
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define LANE_LIMBS 60
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define LANE_LIMBS 80
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define RSA_NO_POWER
#define LANE_LIMBS 120
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#define LANE_LIMBS 160
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_NO_POWER
#undef RSA_POWER_RESIDENT
#endif
#undef RSA_FORM
#include "kernels/number/limbs_end.h"
#endif

#ifdef LC_RSA_U32
#include "kernels/number/limbs_u32.h"

#if RSA_WANTED(1)
#define RSA_LONE
#define RSA_POWER_ONLY
#define RSA_FORM u32_lone
#define RSA_POWER_RESIDENT 2
#define RSA_SQUARE_BLOCK 13
#define LANE_LIMBS 39
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#undef RSA_SQUARE_BLOCK
#undef RSA_POWER_RESIDENT
#undef RSA_FORM
#undef RSA_POWER_ONLY
#undef RSA_LONE
#endif

#define RSA_FORM u32
#define RSA_POWER_RESIDENT 2
#if RSA_WANTED(20)
#define LANE_LIMBS 20
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#if RSA_WANTED(39)
#define LANE_LIMBS 39
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#ifndef LONE_TEAMS
#if RSA_WANTED(10)
#define LANE_LIMBS 10
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#if RSA_WANTED(29)
#define LANE_LIMBS 29
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#else
#undef RSA_UNROLL
#define RSA_UNROLL ONE_BODY
#define RSA_NO_POWER
#if RSA_WANTED(40)
#define LANE_LIMBS 40
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#if RSA_WANTED(232)
#define LANE_LIMBS 232
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#if RSA_WANTED(312)
#define LANE_LIMBS 312
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#undef RSA_NO_POWER
#if RSA_WANTED(58)
#define LANE_LIMBS 58
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#if RSA_WANTED(78)
#define LANE_LIMBS 78
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#if RSA_WANTED(116)
#define LANE_LIMBS 116
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#if RSA_WANTED(156)
#define LANE_LIMBS 156
#include "kernels/rsa/rsa.h"
#undef LANE_LIMBS
#endif
#endif
#undef RSA_POWER_RESIDENT
#undef RSA_FORM
#include "kernels/number/limbs_end.h"
#endif
#undef RSA_WANTED
