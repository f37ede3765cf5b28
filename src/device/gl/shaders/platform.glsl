// Replaces kernels/platform.h in the files of kernels/ that GLSL compiles too: those without
// pointers and 64-bit numbers. The operations have the same names.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define u32 uint
#define FN
#define UNROLL
#define IN_OUT_WORDS(words, count) inout uint words[count]

#define ROTATE_LEFT(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define BYTE_OF(x, i) (((x) >> (8 * (i))) & 0xffu)
#define SWAP_BYTES(x) ((ROTATE_LEFT((x), 8) & 0x00ff00ffu) | (ROTATE_LEFT((x), 24) & 0xff00ff00u))

// Bit 4 * a + 2 * b + c of the constant table t. Each step has two operands, so that a compiler for
// a chip with three-input gates can merge consecutive steps into one.
#define LUT_TERM(bits, term) (((bits) & 1) != 0 ? (term) : 0u)
#define LUT2(b, c, t)                                                        \
  (LUT_TERM((t), ~0u) ^ LUT_TERM((t) ^ ((t) >> 1), (c)) ^                     \
   LUT_TERM((t) ^ ((t) >> 2), (b)) ^                                         \
   LUT_TERM((t) ^ ((t) >> 1) ^ ((t) >> 2) ^ ((t) >> 3), (b) & (c)))
#define LUT3(a, b, c, t) (LUT2(b, c, (t)) ^ ((a) & LUT2(b, c, (t) ^ ((t) >> 4))))
