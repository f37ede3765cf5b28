// `lanecrypt bench aes`: AES on each device, with and without the copies, compared with OpenSSL
// on one core and on all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Runs all measurements. Compares every output with OpenSSL's. Throws Failure (kFailed) if one
// differs.
void bench_aes(const Context &context, bool quick, BenchLog &log);

// Runs the same cases with the data in device memory only. `form` is the form of the context's
// kernels. Skips devices that cannot run that form.
void bench_kernels(const Context &context, const std::string &form, bool quick, BenchLog &log);

// Measures GCM and ChaCha20-Poly1305 in device memory. `form` (LANECRYPT_HASH_FORM) says how the
// context's devices hash long messages.
void bench_hashes(const Context &context, const std::string &form, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
