// Every kernel of RSA, for a target that compiles them from one source. A target defines
// LC_RSA_FP64 if its FP64 units are fast enough (or are to be tested), LC_RSA_U32, or both.
// rsa/rsa_launch.cpp lists the instances and their names.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/rsa/prime_layout.h"
#include "kernels/rsa/rsa_layout.h"

// A driver may take minutes to compile all instances at once. Then LC_RSA_ONLY selects one instance
// of LC_RSA_U32 by its limbs per thread. 1 selects the instance with one thread per number; 0
// selects the code that belongs to no instance.
#if !defined(LC_RSA_ONLY) || LC_RSA_ONLY == 0
#include "kernels/rsa/prime_sieve.h"
#endif

#define RSA_PASTE(form, limbs, x) rsa_##form##_##limbs##_##x
#define RSA_PASTED(form, limbs, x) RSA_PASTE(form, limbs, x)
#define RSA_NAME(x) RSA_PASTED(RSA_FORM, THREAD_LIMBS, x)
#define RSA_UNROLL UNROLL

#ifdef LC_RSA_FP64
#include "kernels/number/limbs_fp64.inc"

// ---- FP64: one thread per number ----
#define RSA_FORM fp64_thread_per_number
#define RSA_THREAD_PER_NUMBER
#define RSA_ENTRIES_AHEAD 3

#define THREAD_LIMBS 10
#define RSA_SQUARE_BLOCK 10
#define RSA_POWER_RESIDENT 4
#define RSA_POWER_ONLY
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 20
#define RSA_SQUARE_BLOCK 20
#define RSA_POWER_RESIDENT 3
#define RSA_POWER_ONLY
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 30
#define RSA_SQUARE_BLOCK 5
#define RSA_POWER_ONLY
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 40
#define RSA_SQUARE_BLOCK 5
#define RSA_POWER_ONLY
#include "kernels/rsa/rsa_instance.inc"

#undef RSA_ENTRIES_AHEAD
#undef RSA_THREAD_PER_NUMBER
#undef RSA_FORM

#ifndef SINGLE_THREAD_SUBGROUPS
// ---- FP64: one warp per number, one thread per limb ----
#define THREAD_LIMBS 1
#define RSA_POWER_RESIDENT 2

#define RSA_FORM fp64_thread_per_limb_20
#define RSA_LIMBS_OF_WARP 20
#include "kernels/rsa/rsa_thread_per_limb.inc"
#undef RSA_LIMBS_OF_WARP
#undef RSA_FORM

#define RSA_FORM fp64_thread_per_limb_30
#define RSA_LIMBS_OF_WARP 30
#include "kernels/rsa/rsa_thread_per_limb.inc"
#undef RSA_LIMBS_OF_WARP
#undef RSA_FORM

#undef RSA_POWER_RESIDENT
#undef THREAD_LIMBS
#endif

// ---- FP64: one subgroup per number, or one thread with all limbs where subgroups have one thread
// ----
#define RSA_FORM fp64
#ifndef SINGLE_THREAD_SUBGROUPS

#define THREAD_LIMBS 5
#define RSA_POWER_RESIDENT 4
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 10
#define RSA_POWER_RESIDENT 3
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 15
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 20
#define RSA_POWER_ONLY
#include "kernels/rsa/rsa_instance.inc"

#else

#define THREAD_LIMBS 10
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 20
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 30
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 40
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 60
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 80
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 120
#define RSA_NO_POWER
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 160
#define RSA_NO_POWER
#include "kernels/rsa/rsa_instance.inc"

#endif
#undef RSA_FORM
#include "kernels/number/limbs_end.inc"
#endif

#ifdef LC_RSA_U32
#include "kernels/number/limbs_u32.inc"

// ---- 32-bit words: one thread per number ----
#define RSA_FORM u32_thread_per_number
#define RSA_THREAD_PER_NUMBER

#define THREAD_LIMBS 39
#define RSA_SQUARE_BLOCK 13
#define RSA_POWER_ONLY
#include "kernels/rsa/rsa_instance.inc"

#undef RSA_THREAD_PER_NUMBER
#undef RSA_FORM

// ---- 32-bit words: one subgroup per number, or one thread with all limbs where subgroups have one
// thread ----
#define RSA_FORM u32

#define THREAD_LIMBS 20
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 39
#include "kernels/rsa/rsa_instance.inc"

#ifndef SINGLE_THREAD_SUBGROUPS

#define THREAD_LIMBS 10
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 29
#include "kernels/rsa/rsa_instance.inc"

#else
// From here on a thread has more limbs than fit in registers.
#undef RSA_UNROLL
#define RSA_UNROLL ONE_BODY

#define THREAD_LIMBS 40
#define RSA_NO_POWER
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 232
#define RSA_NO_POWER
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 312
#define RSA_NO_POWER
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 58
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 78
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 116
#include "kernels/rsa/rsa_instance.inc"

#define THREAD_LIMBS 156
#include "kernels/rsa/rsa_instance.inc"

#endif
#undef RSA_FORM
#include "kernels/number/limbs_end.inc"
#endif
