// Limbs of 52 bits in doubles, for devices whose FP64 units are as fast as
// their integer multipliers. No include guard: defines the macros that
// montgomery.h reads; limbs_end.h takes them back.
//
// A product a b < 2^104 of two limbs is split without error. Added to 2^104 with rounding
// toward zero, it leaves its upper half in the mantissa, since one unit of the last place
// is then 2^52. What that half lacks, added to 2^52, is the lower half. Both mantissas
// are summed as integers together with the bits of the exponents. Those are multiples of
// 2^52 and known beforehand, and the sums start from a value that cancels them. (N.
// Emmart, F. Zheng, C. Weems, "Faster Modular Exponentiation Using Double Precision
// Floating Point Arithmetic on the GPU", ARITH 2018.)
//
// SPDX-License-Identifier: Apache-2.0
#define LIMB f64
#define LIMB_BITS RSA_FP64_BITS
// What the bits of the exponents add to the two halves of a product.
#define LOW_BIAS 0x4330000000000000ull
#define HIGH_BIAS 0x4670000000000000ull
#define ADD_PRODUCT(low, high, a, b)               \
  do {                                             \
    const f64 upper = F64_UPPER((a), (b));         \
    (high) += F64_BITS(upper);                     \
    (low) += F64_BITS(F64_LOWER((a), (b), upper)); \
  } while (0)
#define TO_LIMB(integer) (F64_FROM_BITS((integer) | LOW_BIAS) - 4503599627370496.0)
#define FROM_LIMB(limb) (F64_BITS((limb) + 4503599627370496.0) & LIMB_MASK)
// The bits of a limb, to be stored, masked and put together.
#define RAW u64
#define RAW_OF(limb) F64_BITS(limb)
#define LIMB_OF(raw) F64_FROM_BITS(raw)
