// Limbs of 27 bits in 32-bit words, for any device. A product is one 32-bit
// multiplication. It is added without a carry to a 64-bit sum, which has room for the
// products of every row. No include guard; see limbs_fp64.h.
//
// SPDX-License-Identifier: Apache-2.0
#define LIMB u32
#define LIMB_BITS RSA_U32_BITS
#define LOW_BIAS 0ull
#define HIGH_BIAS 0ull
#define ADD_PRODUCT(low, high, a, b) ((low) += (u64)(a) * (b))
#define TO_LIMB(integer) ((u32)(integer))
#define FROM_LIMB(limb) ((u64)(limb))
#define RAW u32
#define RAW_OF(limb) (limb)
#define LIMB_OF(raw) ((u32)(raw))
