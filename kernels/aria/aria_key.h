// ARIA key expansion (RFC 5794, 2.2), one thread per key, on words as they lie in memory. The
// S-boxes consist of gates, so no address depends on a key. A schedule is rounds + 1 round keys in
// order of use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aria/aria_layers.h"
#include "kernels/block/ciphers.h"

// Applies the S-boxes to the bytes of a word: SB1 to SB4 or, in even rounds, SB3, SB4, SB1, SB2.
FN u32 aria_sub_word(u32 word, u32 even) {
  u32 result = 0;
  UNROLL for (u32 byte = 0; byte < 4; ++byte) {
    u32 planes[8];
    UNROLL for (int i = 0; i < 8; ++i) planes[i] = word >> (8 * byte + 7 - i);
    aria_sbox_planes(planes, (byte + 2 * even) & 3);
    UNROLL for (int i = 0; i < 8; ++i) result |= (planes[i] & 1) << (8 * byte + 7 - i);
  }
  return result;
}

// The round functions FO and FE (RFC 5794, 2.4.1) of a block under a key.
FN Block aria_round(Block block, Block key, u32 even) {
  UNROLL for (u32 n = 0; n < 4; ++n) {
    const u32 word = aria_sub_word(block.w[n] ^ key.w[n], even);
    block.w[n] = aria_spread(even ? ROTATE_LEFT(word, 16) : word);
  }
  aria_diffuse(block.w, even);
  return block;
}

// Returns the constant CK1, CK2 or CK3 (RFC 5794, 2.2); `number` counts from 0.
FN Block aria_constant(u32 number) {
  const Block ck1 = {{0xb7c17c51u, 0x940a2227u, 0xe8ab13feu, 0xe06e9afau}};
  const Block ck2 = {{0xcc4ab16du, 0x20c8219eu, 0xd5b128ffu, 0xb0e25defu}};
  const Block ck3 = {{0x1d3792dbu, 0x70e92621u, 0x75972403u, 0x0ec9e804u}};
  return number == 0 ? ck1 : number == 1 ? ck2 : ck3;
}

// Rotates a block right by `bits`; its first byte is the most significant.
FN Block aria_turn(Block block, u32 bits) {
  Block turned;
  UNROLL for (u32 n = 0; n < 4; ++n) {
    const u32 low = SWAP_BYTES(block.w[(n - bits / 32) & 3]);
    const u32 high = SWAP_BYTES(block.w[(n - bits / 32 - 1) & 3]);
    turned.w[n] = SWAP_BYTES(low >> (bits % 32) | high << (32 - bits % 32));
  }
  return turned;
}

// Key scheduling (RFC 5794, 2.2). For decryption, the inner round keys pass through the diffusion
// layer and the order is reversed.
FN void aria_expand(GLOBAL const u32 *key, GLOBAL u32 *schedule, u32 step, u32 key_words,
                    u32 inverse) {
  const u32 rounds = key_words + 8, first = (key_words - 4) / 2;
  Block w[4], right = {{0, 0, 0, 0}};
  UNROLL for (u32 n = 0; n < 4; ++n) w[0].w[n] = key[n];
  UNROLL for (u32 n = 0; n < 4; ++n) {
    if (4 + n < key_words) right.w[n] = key[4 + n];
  }
  ROLLED for (u32 n = 1; n < 4; ++n) {
    const Block made = aria_round(w[n - 1], aria_constant((first + n - 1) % 3), n == 2);
    const Block other = n == 1 ? right : w[n - 2];
    UNROLL for (u32 i = 0; i < 4; ++i) w[n].w[i] = made.w[i] ^ other.w[i];
  }
  ROLLED for (u32 round = 0; round <= rounds; ++round) {
    // The rotations are 19 and 31 to the right, and 61, 31 and 19 to the left, written as right
    // rotations.
    const u32 four = round / 4, own = round % 4;
    const u32 bits = four == 0 ? 19 : four == 1 ? 31 : four == 2 ? 67 : four == 3 ? 97 : 109;
    const Block stays = own == 3 ? w[3] : w[own];
    const Block turned = aria_turn(own == 3 ? w[0] : w[own + 1], bits);
    const u32 place = inverse ? rounds - round : round;
    Block made;
    UNROLL for (u32 i = 0; i < 4; ++i) made.w[i] = stays.w[i] ^ turned.w[i];
    if (inverse && round != 0 && round != rounds) {
      UNROLL for (u32 i = 0; i < 4; ++i) made.w[i] = aria_spread(made.w[i]);
      aria_diffuse(made.w, 0);
    }
    UNROLL for (u32 i = 0; i < 4; ++i) schedule[step * place + i] = made.w[i];
  }
}

#define BLOCK_CIPHER aria
#define BLOCK_SCHEDULE_WORDS ARIA_SCHEDULE_WORDS
#define BLOCK_EXPAND aria_expand
#include "kernels/block/keys.inc"
