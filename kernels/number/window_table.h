// The powers of a window in device memory, the words of neighbouring lanes side by side.
// No include guard: rsa.h includes it for each of its instances.
//
// For each digit of an exponent every entry is read, whichever is wanted. That is much
// memory, so limbs in doubles are packed without unused bits.
//
// SPDX-License-Identifier: Apache-2.0

#if defined(RSA_LONE) && LIMB_BITS > 32
// A number in 32-bit words without gaps.
#define PACKED_TABLE
#define TABLE_WORD u32
#define TABLE_WORDS ((LANE_LIMBS * LIMB_BITS + 31) / 32)

FN u32 RSA_NAME(word_of)(Number x, u32 word) {
  const u32 limb = word * 32 / LIMB_BITS, shift = word * 32 % LIMB_BITS;
  u64 value = FROM_LIMB(x.limb[limb]) >> shift;
  if (LIMB_BITS - shift < 32 && limb + 1 < LANE_LIMBS)
    value |= FROM_LIMB(x.limb[limb + 1]) << (LIMB_BITS - shift);
  return (u32)value;
}

FN Number RSA_NAME(number_of)(const u32 *words) {
  Number result;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
    const u32 word = j * LIMB_BITS / 32, shift = j * LIMB_BITS % 32;
    u64 value = words[word] >> shift;
    if (word + 1 < TABLE_WORDS) value |= (u64)words[word + 1] << (32 - shift);
    if (shift + LIMB_BITS > 64) value |= (u64)words[word + 2] << (64 - shift);
    result.limb[j] = TO_LIMB(value & LIMB_MASK);
  }
  return result;
}
#else
#define TABLE_WORD LIMB
#define TABLE_WORDS LANE_LIMBS
#endif

// Stores x as entry e.
FN void RSA_NAME(put_entry)(GLOBAL TABLE_WORD *entries, u32 e, Number x) {
  GLOBAL TABLE_WORD *entry = entries + e * (TABLE_WORDS * RSA_GROUP);
#ifdef PACKED_TABLE
  RSA_UNROLL for (u32 j = 0; j < TABLE_WORDS; ++j) entry[j * RSA_GROUP] = RSA_NAME(word_of)(x, j);
#else
  RSA_UNROLL for (u32 j = 0; j < TABLE_WORDS; ++j) entry[j * RSA_GROUP] = x.limb[j];
#endif
}

// Entry `digit`.
FN Number RSA_NAME(take_entry)(GLOBAL const TABLE_WORD *entries, u32 digit) {
#ifdef PACKED_TABLE
  u32 chosen[TABLE_WORDS];
  RSA_UNROLL for (u32 j = 0; j < TABLE_WORDS; ++j) chosen[j] = LOAD_ONCE(entries + j * RSA_GROUP);
  const u32 keep_first = (u32)SHIFT_SIGNED((u64)digit - 1, 63);
  RSA_UNROLL for (u32 j = 0; j < TABLE_WORDS; ++j) chosen[j] &= keep_first;
  // Several reads are under way at a time.
  ONE_BODY for (u32 e = 1; e < RSA_WINDOW_ENTRIES; e += RSA_ENTRIES_AHEAD) {
    GLOBAL const u32 *from = entries + e * (TABLE_WORDS * RSA_GROUP);
    u32 word[RSA_ENTRIES_AHEAD][TABLE_WORDS];
    RSA_UNROLL for (u32 k = 0; k < RSA_ENTRIES_AHEAD; ++k)
        RSA_UNROLL for (u32 j = 0; j < TABLE_WORDS; ++j) word[k][j] =
            LOAD_ONCE(from + (k * TABLE_WORDS + j) * RSA_GROUP);
    RSA_UNROLL for (u32 k = 0; k < RSA_ENTRIES_AHEAD; ++k) {
      const u32 keep = (u32)SHIFT_SIGNED((u64)((e + k) ^ digit) - 1, 63);
      RSA_UNROLL for (u32 j = 0; j < TABLE_WORDS; ++j) chosen[j] |= word[k][j] & keep;
    }
  }
  return RSA_NAME(number_of)(chosen);
#else
  // Two reads are under way at a time.
  RAW chosen[LANE_LIMBS];
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) chosen[j] = 0;
  ONE_BODY for (u32 e = 0; e < RSA_WINDOW_ENTRIES; e += 2) {
    GLOBAL const LIMB *entry = entries + e * (LANE_LIMBS * RSA_GROUP);
    RAW even[LANE_LIMBS], odd[LANE_LIMBS];
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) {
      even[j] = RAW_OF(LOAD_ONCE(entry + j * RSA_GROUP));
      odd[j] = RAW_OF(LOAD_ONCE(entry + (LANE_LIMBS + j) * RSA_GROUP));
    }
    const RAW keep_even = (RAW)SHIFT_SIGNED((u64)(e ^ digit) - 1, 63);
    const RAW keep_odd = (RAW)SHIFT_SIGNED((u64)((e + 1) ^ digit) - 1, 63);
    RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) chosen[j] |=
        (even[j] & keep_even) | (odd[j] & keep_odd);
  }
  Number result;
  RSA_UNROLL for (u32 j = 0; j < LANE_LIMBS; ++j) result.limb[j] = LIMB_OF(chosen[j]);
  return result;
#endif
}

#undef PACKED_TABLE
