// Random bytes, of which Lanecrypt makes none of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/random_source.h"
#include "job/status.h"

namespace lanecrypt::cpu {

// Bytes that nobody can guess, from OpenSSL's private random generator. Any thread.
Status random_bytes(void *to, size_t bytes);
// The same from the source, on the calling thread.
Status random_bytes_from(const RandomSource &source, void *to, size_t bytes);

}  // namespace lanecrypt::cpu
