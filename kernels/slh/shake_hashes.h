// The hashes of the SHAKE sets (FIPS 205, section 11.1), for one n: SLH_N bytes. All are
// SHAKE256 of PK.seed, the address and the input.
//
// SPDX-License-Identifier: Apache-2.0

#define SLH_SIGNATURE_WORD(x) (x)
#define SLH_BYTE(words, i) (((words)[(i) / 4] >> (8 * ((i) % 4))) & 255u)
// Lanes of 8 bytes that a block of SHAKE256 takes, and those before the input.
#define SLH_RATE 17
#define SLH_HEAD (SLH_WORDS / 2 + 4)

typedef struct SLH_NAME(Seed) {
  u32 words[SLH_WORDS];
} SLH_NAME(Seed);

FN void SLH_NAME(load_seed)(SLH_NAME(Seed) * seed, GLOBAL const SlhItem *item) {
  for (u32 i = 0; i < SLH_WORDS; ++i) seed->words[i] = item->pk_seed[i];
}

FN u64 SLH_NAME(pair)(u32 low, u32 high) { return (u64)high << 32 | low; }

FN u64 SLH_NAME(swapped_pair)(u32 low, u32 high) {
  return SLH_NAME(pair)(SWAP_BYTES(low), SWAP_BYTES(high));
}

FN void SLH_NAME(begin)(u64 *state, const SLH_NAME(Seed) * seed, const SlhAddress *address) {
  UNROLL for (u32 i = 0; i < 25; ++i) state[i] = 0;
  UNROLL for (u32 i = 0; i < SLH_WORDS / 2; ++i) state[i] =
      SLH_NAME(pair)(seed->words[2 * i], seed->words[2 * i + 1]);
  state[SLH_HEAD - 4] = SWAP_BYTES(address->layer);
  state[SLH_HEAD - 3] = SLH_NAME(swapped_pair)((u32)(address->tree >> 32), (u32)address->tree);
  state[SLH_HEAD - 2] = SLH_NAME(swapped_pair)(address->type, address->a);
  state[SLH_HEAD - 1] = SLH_NAME(swapped_pair)(address->b, address->c);
}

FN void SLH_NAME(take)(u32 *out, const u64 *state) {
  UNROLL for (u32 i = 0; i < SLH_WORDS / 2; ++i) {
    out[2 * i] = (u32)state[i];
    out[2 * i + 1] = (u32)(state[i] >> 32);
  }
}

FN void SLH_NAME(hash_one)(const SLH_NAME(Seed) * seed, const SlhAddress *address, const u32 *in,
                           u32 *out) {
  u64 state[25];
  SLH_NAME(begin)(state, seed, address);
  UNROLL for (u32 i = 0; i < SLH_WORDS / 2; ++i) state[SLH_HEAD + i] =
      SLH_NAME(pair)(in[2 * i], in[2 * i + 1]);
  state[SLH_HEAD + SLH_WORDS / 2] = 0x1f;
  state[SLH_RATE - 1] ^= (u64)1 << 63;
  keccak_f1600(state);
  SLH_NAME(take)(out, state);
}

FN void SLH_NAME(hash_two)(const SLH_NAME(Seed) * seed, const SlhAddress *address, const u32 *left,
                           const u32 *right, u32 *out) {
  u64 state[25];
  SLH_NAME(begin)(state, seed, address);
  UNROLL for (u32 i = 0; i < SLH_WORDS / 2; ++i) {
    state[SLH_HEAD + i] = SLH_NAME(pair)(left[2 * i], left[2 * i + 1]);
    state[SLH_HEAD + SLH_WORDS / 2 + i] = SLH_NAME(pair)(right[2 * i], right[2 * i + 1]);
  }
  state[SLH_HEAD + SLH_WORDS] = 0x1f;
  state[SLH_RATE - 1] ^= (u64)1 << 63;
  keccak_f1600(state);
  SLH_NAME(take)(out, state);
}

FN void SLH_NAME(hash_many)(const SLH_NAME(Seed) * seed, const SlhAddress *address,
                            GLOBAL const u32 *in, u32 count, u32 *out) {
  const u32 blocks = (SLH_HEAD + count / 2) / SLH_RATE + 1;
  u64 state[25];
  SLH_NAME(begin)(state, seed, address);
  ROLLED for (u32 b = 0; b < blocks; ++b) {
    UNROLL for (u32 i = 0; i < SLH_RATE; ++i) {
      if (b == 0 && i < SLH_HEAD) continue;
      const u32 at = 2 * (SLH_RATE * b + i - SLH_HEAD);
      if (at < count) state[i] ^= SLH_NAME(pair)(in[at], in[at + 1]);
      if (at == count) state[i] ^= 0x1f;
    }
    if (b + 1 == blocks) state[SLH_RATE - 1] ^= (u64)1 << 63;
    keccak_f1600(state);
  }
  SLH_NAME(take)(out, state);
}

#undef SLH_RATE
#undef SLH_HEAD
