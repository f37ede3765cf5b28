// R: Rosenberg 2007, in its parts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/case.h"

namespace lanecrypt::bench {

// The cipher of the paper.
BenchCase paper_r_case();

// AES with the data on the card, with blocks, threads and blocks a thread set by hand.
void paper_r_grid(PaperBench &bench, uint32_t device);

}  // namespace lanecrypt::bench
