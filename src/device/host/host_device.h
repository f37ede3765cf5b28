// What tests ask of the emulator beside the seam.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::device {

// Ranges of callers' memory that are pinned now, by all emulators.
uint64_t count_pinned_in_place();
// How many were ever pinned.
uint64_t pinnings_in_place();

}  // namespace lanecrypt::device
