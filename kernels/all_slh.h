// Every kernel of SLH-DSA (FIPS 205). A target may compile one instance alone, by its
// number in LC_SLH_ONLY: 0 to 2 are SHA-2 with n of 16, 24 and 32 bytes, 3 to 5 SHAKE; 6 to 11 are
// the same for the sets of the draft SP 800-230.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/keccak.h"
#include "kernels/hash/sha256.h"
#include "kernels/hash/sha512.h"
#include "kernels/slh/address.h"

#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 0
#define SLH_N 16
#define SLH_LG_W 4
#define SLH_SIZE 16
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 1
#define SLH_N 24
#define SLH_LG_W 4
#define SLH_SIZE 24
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 2
#define SLH_N 32
#define SLH_LG_W 4
#define SLH_SIZE 32
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 6
#define SLH_N 16
#define SLH_LG_W 2
#define SLH_SIZE 16w4
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 7
#define SLH_N 24
#define SLH_LG_W 3
#define SLH_SIZE 24w8
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 8
#define SLH_N 32
#define SLH_LG_W 2
#define SLH_SIZE 32w4
#include "kernels/slh/instance.inc"
#endif

#define SLH_SHAKE
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 3
#define SLH_N 16
#define SLH_LG_W 4
#define SLH_SIZE 16
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 4
#define SLH_N 24
#define SLH_LG_W 4
#define SLH_SIZE 24
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 5
#define SLH_N 32
#define SLH_LG_W 4
#define SLH_SIZE 32
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 9
#define SLH_N 16
#define SLH_LG_W 2
#define SLH_SIZE 16w4
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 10
#define SLH_N 24
#define SLH_LG_W 3
#define SLH_SIZE 24w8
#include "kernels/slh/instance.inc"
#endif
#if !defined(LC_SLH_ONLY) || LC_SLH_ONLY == 11
#define SLH_N 32
#define SLH_LG_W 2
#define SLH_SIZE 32w4
#include "kernels/slh/instance.inc"
#endif
#undef SLH_SHAKE
