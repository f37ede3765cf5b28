// What kernels/platform.h is to C, for the files of kernels/ that GLSL reads
// too: those with no pointer and no 64-bit number. The leaf operations bear the
// same names.
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

// Bit 4 * a + 2 * b + c of the constant table, as a sum of products; the
// compiler drops what the table does not have.
#define LUT3_BIT(t, i) ((((t) >> (i)) & 1) != 0 ? 0xffffffffu : 0u)
#define LUT3(a, b, c, t)                                                          \
  ((~(a) & ~(b) & ~(c) & LUT3_BIT(t, 0)) | (~(a) & ~(b) & (c) & LUT3_BIT(t, 1)) | \
   (~(a) & (b) & ~(c) & LUT3_BIT(t, 2)) | (~(a) & (b) & (c) & LUT3_BIT(t, 3)) |   \
   ((a) & ~(b) & ~(c) & LUT3_BIT(t, 4)) | ((a) & ~(b) & (c) & LUT3_BIT(t, 5)) |   \
   ((a) & (b) & ~(c) & LUT3_BIT(t, 6)) | ((a) & (b) & (c) & LUT3_BIT(t, 7)))
