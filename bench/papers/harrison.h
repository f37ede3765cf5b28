// H: Harrison and Waldron 2007, in its parts. All of it is OpenGL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/gl_bench.h"

namespace lanecrypt::bench {

// On how many multiprocessors fragments run, and how many there are.
void paper_h_places(const GlBench &gl);
// Only XOR, with the round trip over the bus and without.
void paper_h_xor(const GlBench &gl);
// How much a CPU-bound program keeps of its core beside each way.
void paper_h_idle(const GlBench &gl);

}  // namespace lanecrypt::bench
