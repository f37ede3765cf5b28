// The parts of H: Harrison and Waldron 2007. All of them use OpenGL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/gl_bench.h"

namespace lanecrypt::bench {

// Measures on how many multiprocessors fragments run, and how many there are.
void paper_h_places(const GlBench &gl);
// Measures XOR alone, with and without the round trip over the bus.
void paper_h_xor(const GlBench &gl);
// Measures how much of its core a CPU-bound program keeps while each way computes.
void paper_h_idle(const GlBench &gl);

}  // namespace lanecrypt::bench
