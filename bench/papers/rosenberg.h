// The parts of R: Rosenberg 2007.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/case.h"

namespace lanecrypt::bench {

// The paper's cipher.
BenchCase paper_r_case();

// Measures AES in device memory, with blocks, threads and data blocks per thread set explicitly.
void paper_r_grid(PaperBench &bench, uint32_t device);

}  // namespace lanecrypt::bench
