// `lanecrypt bench aes`: AES on each device, with and without the copies, compared with OpenSSL on
// one core.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Runs all measurements. Compares every output with OpenSSL's. Throws Failure (kFailed) if one
// differs.
void bench_aes(const Context &context, bool quick, BenchLog &log);

// Runs the same with data in device memory only. `form` is the kernel variant of the context.
// Devices that cannot run it are left out.
void bench_kernels(const Context &context, const std::string &form, bool quick, BenchLog &log);

// Measures GCM and ChaCha20-Poly1305 with data in device memory. `form` (LANECRYPT_HASH_FORM) is
// the variant with which the context's devices hash long messages.
void bench_hashes(const Context &context, const std::string &form, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
