// The kernels for one n and one family of hashes: SLH_N bytes, and SLH_SHAKE where it is that
// family. What else differs between the sets of FIPS 205, a launch is told (SlhShape).
//
// SPDX-License-Identifier: Apache-2.0

#define SLH_PASTE(family, n, x) slh_##family##_##n##_##x
#define SLH_PASTED(family, n, x) SLH_PASTE(family, n, x)
#ifdef SLH_SHAKE
#define SLH_NAME(x) SLH_PASTED(shake, SLH_N, x)
#else
#define SLH_NAME(x) SLH_PASTED(sha2, SLH_N, x)
#endif
#define SLH_WORDS (SLH_N / 4)

#ifdef SLH_SHAKE
#include "kernels/slh/shake_hashes.h"
#else
#include "kernels/slh/sha2_hashes.h"
#endif
// Each stands on those before it.
#include "kernels/slh/trees.h"

#include "kernels/slh/grow.h"

#include "kernels/slh/sign.h"

#include "kernels/slh/verify.h"

#undef SLH_PASTE
#undef SLH_PASTED
#undef SLH_NAME
#undef SLH_WORDS
#undef SLH_SIGNATURE_WORD
#undef SLH_DIGIT
#undef SLH_N
