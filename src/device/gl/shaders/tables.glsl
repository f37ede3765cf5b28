// One table of AES in shared memory, with a copy in every bank, and the rounds (FIPS 197, 5.1 and
// 5.3.5) that use it, as in kernels/aes/aes_table.inc with BLOCK_TABLES 1. The table is computed by
// the gates of kernels/aes/aes_sbox_planes.h. So the only addresses that depend on a secret are
// those of the look-ups, which have no bank conflicts if there are 32 banks.
//
// SPDX-License-Identifier: Apache-2.0

#define COPIES 32u

shared uint tables[256u * COPIES];

#if INVERSE
uint table_word(uint x) {
  uint planes[8], s = 0u;
  for (int i = 0; i < 8; ++i) planes[i] = (x >> (7 - i)) & 1u;
  aes_inverse_sbox_planes(planes);
  for (int i = 0; i < 8; ++i) s |= (planes[i] & 1u) << (7 - i);
  uint s2 = aes_times_x(s), s4 = aes_times_x(s2), s8 = aes_times_x(s4);
  return (s8 ^ s4 ^ s2) | (s8 ^ s) << 8 | (s8 ^ s4 ^ s) << 16 | (s8 ^ s2 ^ s) << 24;
}
#else
uint table_word(uint x) {
  uint s = aes_sub_word(x) & 0xffu, s2 = aes_times_x(s);
  return s2 | s << 8 | s << 16 | (s2 ^ s) << 24;
}
#endif

void fill_tables(uint thread) {
  for (uint x = thread; x < 256u; x += uint(LC_THREADS)) {
    uint word = table_word(x);
    // Neighbouring threads write to neighbouring banks.
    for (uint n = 0u; n < COPIES; ++n)
      tables[x * COPIES + (x + n) % COPIES] = word;
  }
  memoryBarrierShared();
  barrier();
}

#define COPY (gl_LocalInvocationID.x % COPIES)
#define LOOK0(x, i) tables[BYTE_OF(x, i) * COPIES + COPY]
#define LOOK1(x, i) ROTATE_LEFT(LOOK0(x, i), 8)
#define LOOK2(x, i) ROTATE_LEFT(LOOK0(x, i), 16)
#define LOOK3(x, i) ROTATE_LEFT(LOOK0(x, i), 24)

uint mixed(uint a, uint b, uint c, uint d) {
  uint t1 = LOOK0(b, 1), t2 = LOOK0(c, 2), t3 = LOOK0(d, 3);
  return LOOK0(a, 0) ^ ROTATE_LEFT(t1, 8) ^ ROTATE_LEFT(t2, 16) ^ ROTATE_LEFT(t3, 24);
}

#if INVERSE

// The inverse S-box of x is the XOR of the four bytes of its table word, since 0e ^ 09 ^ 0d ^ 0b =
// 01.
uint inverse_s(uint word) {
  word ^= word >> 16;
  return (word ^ (word >> 8)) & 0xffu;
}

uint last_column(uint a, uint b, uint c, uint d) {
  uint t0 = LOOK0(a, 0), t1 = LOOK0(b, 1), t2 = LOOK0(c, 2), t3 = LOOK0(d, 3);
  return inverse_s(t0) | inverse_s(t1) << 8 | inverse_s(t2) << 16 | inverse_s(t3) << 24;
}

// EqInvCipher (FIPS 197, 5.3.5) of four blocks.
void decrypt(inout uvec4 blocks[4], uint schedule) {
  for (int n = 0; n < 4; ++n) blocks[n] ^= schedules[schedule];
  for (uint round = 1u; round < rounds; ++round) {
    uvec4 key = schedules[schedule + round];
    for (int n = 0; n < 4; ++n) {
      uvec4 s = blocks[n];
      blocks[n] = key ^ uvec4(mixed(s.x, s.w, s.z, s.y), mixed(s.y, s.x, s.w, s.z),
                              mixed(s.z, s.y, s.x, s.w), mixed(s.w, s.z, s.y, s.x));
    }
  }
  uvec4 key = schedules[schedule + rounds];
  for (int n = 0; n < 4; ++n) {
    uvec4 s = blocks[n];
    blocks[n] = key ^ uvec4(last_column(s.x, s.w, s.z, s.y), last_column(s.y, s.x, s.w, s.z),
                            last_column(s.z, s.y, s.x, s.w), last_column(s.w, s.z, s.y, s.x));
  }
}

#else

// S(x) is bytes 1 and 2 of its table word.
uint last_column(uint a, uint b, uint c, uint d) {
  uint t0 = LOOK0(a, 0), t1 = LOOK0(b, 1), t2 = LOOK0(c, 2), t3 = LOOK0(d, 3);
  return ((t0 >> 8) & 0xffu) | (t1 & 0xff00u) | (t2 & 0xff0000u) | ((t3 << 8) & 0xff000000u);
}

uvec4 middle_round(uvec4 s, uvec4 key) {
  return key ^ uvec4(mixed(s.x, s.y, s.z, s.w), mixed(s.y, s.z, s.w, s.x),
                     mixed(s.z, s.w, s.x, s.y), mixed(s.w, s.x, s.y, s.z));
}

uvec4 last_round(uvec4 s, uvec4 key) {
  return key ^ uvec4(last_column(s.x, s.y, s.z, s.w), last_column(s.y, s.z, s.w, s.x),
                     last_column(s.z, s.w, s.x, s.y), last_column(s.w, s.x, s.y, s.z));
}

// Computes rounds `from` to the last of blocks that have passed AddRoundKey and the rounds before.
void encrypt_from(inout uvec4 blocks[4], uint from, uint schedule) {
  for (uint round = from; round < rounds; ++round) {
    uvec4 key = schedules[schedule + round];
    for (int n = 0; n < 4; ++n) blocks[n] = middle_round(blocks[n], key);
  }
  uvec4 key = schedules[schedule + rounds];
  for (int n = 0; n < 4; ++n) blocks[n] = last_round(blocks[n], key);
}

uvec4 encrypt_one(uvec4 state, uint schedule) {
  state ^= schedules[schedule];
  for (uint round = 1u; round < rounds; ++round)
    state = middle_round(state, schedules[schedule + round]);
  return last_round(state, schedules[schedule + rounds]);
}

#endif
