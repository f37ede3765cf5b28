// The kernels for one n, one w and one family of hashes: SLH_N bytes, 2^SLH_LG_W values of a
// chain, and SLH_SHAKE where it is that family. SLH_SIZE names n and w. What else differs between
// the sets of FIPS 205, or of the draft SP 800-230, a launch is told (SlhShape).
//
// SPDX-License-Identifier: Apache-2.0

#define SLH_PASTE(family, size, x) slh_##family##_##size##_##x
#define SLH_PASTED(family, size, x) SLH_PASTE(family, size, x)
#ifdef SLH_SHAKE
#define SLH_NAME(x) SLH_PASTED(shake, SLH_SIZE, x)
#else
#define SLH_NAME(x) SLH_PASTED(sha2, SLH_SIZE, x)
#endif
#define SLH_WORDS (SLH_N / 4)
#define SLH_CHAIN_VALUES (1 << SLH_LG_W)
// Digits of a message that WOTS+ signs, and the greatest sum of what they lack (FIPS 205,
// algorithm 7). A key has a chain for each digit of the message and of that sum.
#define SLH_DIGITS (8 * SLH_N / SLH_LG_W)
#define SLH_MOST_SUM (SLH_DIGITS * (SLH_CHAIN_VALUES - 1))
#define SLH_HAS_SUM_DIGIT(i) (SLH_MOST_SUM >> (SLH_LG_W * (i)) != 0)
#define SLH_CHAINS                                                                   \
  (SLH_DIGITS + SLH_HAS_SUM_DIGIT(0) + SLH_HAS_SUM_DIGIT(1) + SLH_HAS_SUM_DIGIT(2) + \
   SLH_HAS_SUM_DIGIT(3) + SLH_HAS_SUM_DIGIT(4))

#ifdef SLH_SHAKE
#include "kernels/slh/shake_hashes.h"
#else
#include "kernels/slh/sha2_hashes.h"
#endif
// Each stands on those before it.
#include "kernels/slh/trees.h"

#if SLH_LG_W == 4
#include "kernels/slh/short_trees.h"
#else
#include "kernels/slh/tall_trees.h"
#endif

#include "kernels/slh/sign.h"

#include "kernels/slh/verify.h"

#undef SLH_PASTE
#undef SLH_PASTED
#undef SLH_NAME
#undef SLH_WORDS
#undef SLH_SIGNATURE_WORD
#undef SLH_BYTE
#undef SLH_CHAIN_VALUES
#undef SLH_DIGITS
#undef SLH_MOST_SUM
#undef SLH_HAS_SUM_DIGIT
#undef SLH_CHAINS
#undef SLH_SIZE
#undef SLH_LG_W
#undef SLH_N
