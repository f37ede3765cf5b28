// The hashes of the SHA-2 sets (FIPS 205, section 11.2), for one n: SLH_N bytes. The state
// after PK.seed, padded to a block, is given, so a short input costs one compression. F and
// PRF are SHA-256. H and T are SHA-256 too where n is 16, and SHA-512 where it is more.
//
// SPDX-License-Identifier: Apache-2.0

#define SLH_SIGNATURE_WORD(x) SWAP_BYTES(x)
// Byte i of the words of a hash.
#define SLH_BYTE(words, i) (((words)[(i) / 4] >> (24 - 8 * ((i) % 4))) & 255u)

typedef struct SLH_NAME(Seed) {
  u32 narrow[8];
#if SLH_N != 16
  GLOBAL const u64 *wide;  // read again for each hash, to save registers
#endif
} SLH_NAME(Seed);

FN void SLH_NAME(load_seed)(SLH_NAME(Seed) * seed, GLOBAL const SlhItem *item) {
  for (u32 i = 0; i < 8; ++i) seed->narrow[i] = item->narrow_state[i];
#if SLH_N != 16
  seed->wide = item->wide_state;
#endif
}

// The first 5 words of an address of 22 bytes. The last two bytes are the low half of c.
FN void SLH_NAME(put_address)(u32 *block, const SlhAddress *address) {
  block[0] = address->layer << 24 | (u32)(address->tree >> 40);
  block[1] = (u32)(address->tree >> 8);
  block[2] = (u32)address->tree << 24 | address->type << 16 | address->a >> 16;
  block[3] = address->a << 16 | address->b >> 16;
  block[4] = address->b << 16 | address->c >> 16;
}

FN void SLH_NAME(compress)(u32 *out, const u32 *start, u32 *block) {
  u32 state[8];
  UNROLL for (u32 i = 0; i < 8; ++i) state[i] = start[i];
  sha256_compress(state, block);
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) out[i] = state[i];
}

// F and PRF: of the address and n bytes. out may be in.
FN void SLH_NAME(hash_one)(const SLH_NAME(Seed) * seed, const SlhAddress *address, const u32 *in,
                           u32 *out) {
  u32 block[16];
  SLH_NAME(put_address)(block, address);
  block[5] = address->c << 16 | in[0] >> 16;
  UNROLL for (u32 i = 1; i < SLH_WORDS; ++i) block[5 + i] = in[i - 1] << 16 | in[i] >> 16;
  block[5 + SLH_WORDS] = in[SLH_WORDS - 1] << 16 | 0x8000u;
  UNROLL for (u32 i = 6 + SLH_WORDS; i < 15; ++i) block[i] = 0;
  block[15] = 8 * (64 + 22 + SLH_N);
  SLH_NAME(compress)(out, seed->narrow, block);
}

#if SLH_N == 16

// H: of the address and two nodes.
FN void SLH_NAME(hash_two)(const SLH_NAME(Seed) * seed, const SlhAddress *address, const u32 *left,
                           const u32 *right, u32 *out) {
  u32 block[16];
  SLH_NAME(put_address)(block, address);
  block[5] = address->c << 16 | left[0] >> 16;
  UNROLL for (u32 i = 1; i < 4; ++i) block[5 + i] = left[i - 1] << 16 | left[i] >> 16;
  block[9] = left[3] << 16 | right[0] >> 16;
  UNROLL for (u32 i = 1; i < 4; ++i) block[9 + i] = right[i - 1] << 16 | right[i] >> 16;
  block[13] = right[3] << 16 | 0x8000u;
  block[14] = 0;
  block[15] = 8 * (64 + 22 + 32);
  SLH_NAME(compress)(out, seed->narrow, block);
}

// T: of the address and `count` words.
FN void SLH_NAME(hash_many)(const SLH_NAME(Seed) * seed, const SlhAddress *address,
                            GLOBAL const u32 *in, u32 count, u32 *out) {
  const u32 blocks = (22 + 4 * count + 9 + 63) / 64;
  u32 state[8], block[16], last = address->c;
  UNROLL for (u32 i = 0; i < 8; ++i) state[i] = seed->narrow[i];
  ROLLED for (u32 b = 0; b < blocks; ++b) {
    UNROLL for (u32 i = 0; i < 16; ++i) {
      if (b == 0 && i < 5) continue;
      const u32 at = 16 * b + i - 5;
      const u32 next = at < count ? in[at] : (at == count ? 0x80000000u : 0);
      block[i] = last << 16 | next >> 16;
      last = next;
    }
    if (b == 0) SLH_NAME(put_address)(block, address);
    if (b + 1 == blocks) block[15] = 8 * (64 + 22 + 4 * count);
    sha256_compress(state, block);
  }
  UNROLL for (u32 i = 0; i < SLH_WORDS; ++i) out[i] = state[i];
}

#else

FN void SLH_NAME(put_wide_address)(u64 *block, const SlhAddress *address) {
  block[0] = (u64)address->layer << 56 | address->tree >> 8;
  block[1] = address->tree << 56 | (u64)address->type << 48 | (u64)address->a << 16 |
             (u64)(address->b >> 16);
}

// The words of the address that come before what is hashed, as if they were its last word.
FN u64 SLH_NAME(wide_rest)(const SlhAddress *address) {
  return (u64)(address->b & 0xffffu) << 32 | (u64)address->c;
}

FN void SLH_NAME(take_wide)(u32 *out, const u64 *state) {
  UNROLL for (u32 i = 0; i < SLH_WORDS / 2; ++i) {
    out[2 * i] = (u32)(state[i] >> 32);
    out[2 * i + 1] = (u32)state[i];
  }
}

FN void SLH_NAME(hash_two)(const SLH_NAME(Seed) * seed, const SlhAddress *address, const u32 *left,
                           const u32 *right, u32 *out) {
  u64 state[8], block[16], last = SLH_NAME(wide_rest)(address);
  UNROLL for (u32 i = 0; i < 8; ++i) state[i] = seed->wide[i];
  SLH_NAME(put_wide_address)(block, address);
  UNROLL for (u32 i = 0; i < SLH_WORDS / 2; ++i) {
    const u64 next = (u64)left[2 * i] << 32 | left[2 * i + 1];
    block[2 + i] = last << 16 | next >> 48;
    last = next;
  }
  UNROLL for (u32 i = 0; i < SLH_WORDS / 2; ++i) {
    const u64 next = (u64)right[2 * i] << 32 | right[2 * i + 1];
    block[2 + SLH_WORDS / 2 + i] = last << 16 | next >> 48;
    last = next;
  }
  block[2 + SLH_WORDS] = last << 16 | 0x8000u;
  UNROLL for (u32 i = 3 + SLH_WORDS; i < 15; ++i) block[i] = 0;
  block[15] = 8 * (128 + 22 + 2 * SLH_N);
  sha512_compress(state, block);
  SLH_NAME(take_wide)(out, state);
}

FN void SLH_NAME(hash_many)(const SLH_NAME(Seed) * seed, const SlhAddress *address,
                            GLOBAL const u32 *in, u32 count, u32 *out) {
  const u32 blocks = (22 + 4 * count + 17 + 127) / 128;
  u64 state[8], block[16], last = SLH_NAME(wide_rest)(address);
  UNROLL for (u32 i = 0; i < 8; ++i) state[i] = seed->wide[i];
  ROLLED for (u32 b = 0; b < blocks; ++b) {
    UNROLL for (u32 i = 0; i < 16; ++i) {
      if (b == 0 && i < 2) continue;
      const u32 at = 2 * (16 * b + i - 2);
      u64 next = at == count ? (u64)1 << 63 : 0;
      if (at < count) next = (u64)in[at] << 32 | in[at + 1];
      block[i] = last << 16 | next >> 48;
      last = next;
    }
    if (b == 0) SLH_NAME(put_wide_address)(block, address);
    if (b + 1 == blocks) block[15] = 8 * (128 + 22 + 4 * (u64)count);
    sha512_compress(state, block);
  }
  SLH_NAME(take_wide)(out, state);
}

#endif
