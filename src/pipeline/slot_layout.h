// Where the bytes of a chunk lie on the device, and what its kernels are told of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/slot.h"
#include "work/key_numbers.h"

namespace lanecrypt::schedule {

// Gives every piece of a slot, whose work has its kind, its place there, its descriptor and
// its key. stages_all: see HostShare.
void lay_out(Slot &slot, KeyNumbers &key_numbers, bool stages_all);

}  // namespace lanecrypt::schedule
