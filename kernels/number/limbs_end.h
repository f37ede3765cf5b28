// Takes back what limbs_fp64.h or limbs_u32.h defined. No include guard.
//
// SPDX-License-Identifier: Apache-2.0
#undef LIMB
#undef LIMB_BITS
#undef LOW_BIAS
#undef HIGH_BIAS
#undef ADD_PRODUCT
#undef TO_LIMB
#undef FROM_LIMB
#undef RAW
#undef RAW_OF
#undef LIMB_OF
