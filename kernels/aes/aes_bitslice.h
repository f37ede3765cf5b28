// AES without tables; see kernels/block/bitslice/form.h.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/aes/aes_bitslice_window.h"
#include "kernels/aes/aes_planes.h"

#define BLOCK_CIPHER aes
#define BLOCK_SCHEDULE_WORDS AES_SCHEDULE_WORDS
#define BLOCK_MODES AES_MODES
#define BLOCK_PLANE_WORDS AES_PLANE_WORDS
#define BLOCK_USED_WORDS(rounds) (4 * ((rounds) + 1))
#include "kernels/block/bitslice/form.h"

#define BLOCK_FIRST_ROUND 1
#define BLOCK_SLICED_WINDOW AesBitsliceWindow
#define BLOCK_SLICED_NO_WINDOW \
  {                            \
    0, 0, { 0, 0, 0, 0 }       \
  }

FN void BLOCK_NAME(begin)(u32 *state, GLOBAL const u32 *schedule) {
  aes_bitslice_add_key(state, BLOCK_ROUND_KEY(schedule, 0));
}

// Rounds `from` to the last.
FN void BLOCK_NAME(rounds_from)(u32 *state, u32 from, GLOBAL const u32 *schedule, u32 rounds,
                                u32 inverse) {
  ROLLED for (u32 round = from; round < rounds; ++round) {
    KEEP_IN_STEP();
    aes_bitslice_round(state, aes_bitslice_key(BLOCK_ROUND_KEY(schedule, round), inverse), inverse);
  }
  aes_bitslice_last_round(state, aes_bitslice_key(BLOCK_ROUND_KEY(schedule, rounds), inverse),
                          inverse);
}

FN AesBitsliceWindow BLOCK_NAME(begin_window)(Block first, GLOBAL const u32 *schedule) {
  return aes_bitslice_window_of(first, BLOCK_ROUND_KEY(schedule, 0), BLOCK_ROUND_KEY(schedule, 1),
                                BLOCK_ROUND_KEY(schedule, 2));
}

// Leaves rounds 1 and 2 behind it.
FN u32 BLOCK_NAME(in_window)(u32 *state, const AesBitsliceWindow *window, u32 part) {
  aes_bitslice_rows(state, window, part);
  return 3;
}

#ifndef BLOCK_KEY_SLOT
FN void BLOCK_NAME(planes_cipher)(u32 *state, GLOBAL const u32 *planes, u32 rounds, u32 inverse) {
  aes_planes_cipher(state, planes, rounds, inverse);
}
#endif

#include "kernels/block/bitslice/kernels.h"
