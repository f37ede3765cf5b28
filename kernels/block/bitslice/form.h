// The bitsliced form of a cipher: a file that defines BLOCK_CIPHER, BLOCK_SCHEDULE_WORDS,
// BLOCK_MODES, BLOCK_PLANE_WORDS and BLOCK_USED_WORDS(rounds), of a schedule, includes this, and
// then defines
//   BLOCK_FIRST_ROUND            the number that `rounds_from` has for the first round
//   BLOCK_NAME(begin)            what comes before the first round
//   BLOCK_NAME(rounds_from)      a round and those behind it, by BLOCK_ROUND_KEY
//   BLOCK_NAME(planes_cipher)    blocks in, blocks out, with a bitsliced schedule
//   BLOCK_SLICED_WINDOW BLOCK_SLICED_NO_WINDOW BLOCK_NAME(begin_window) BLOCK_NAME(in_window)
//                                if CTR's first rounds have shares for many counters
// and includes kernels.h for the modes. Where the target has a key slot it does all this
// once more with BLOCK_KEY_SLOT defined, for kernels that take all keys from there.
//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/block/bitslice/planes.h"

#ifdef BLOCK_KEY_SLOT
#define BLOCK_FORM bitslice_slot
#define BLOCK_ROUND_KEY(schedule, round) block_slot_round_key(round)
#else
#define BLOCK_FORM bitslice
#define BLOCK_ROUND_KEY(schedule, round) block_round_key(schedule, 4, round)
#endif
