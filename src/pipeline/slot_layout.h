// Where the bytes of a chunk are on the device, and what its kernels are told of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/slot.h"
#include "work/key_numbers.h"

namespace lanecrypt::runtime {

// Gives every piece of a slot its place on the device, its descriptor and its key. The slot's
// work must have its kind already. stages_all: see ChunkTransfer.
void lay_out(Slot &slot, KeyNumbers &key_numbers, bool stages_all);

}  // namespace lanecrypt::runtime
