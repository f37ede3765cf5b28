// `lanecrypt bench aes`: AES on each device, alone and with the copies, beside
// OpenSSL on one core.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Runs all of it. Every output is compared with OpenSSL's. Throws Failure (kFailed) if
// one differs.
void bench_aes(const Context &context, bool quick, BenchLog &log);

// The same with the data on the card only. `form` is the form of the context's kernels.
// Devices that cannot run it are left out.
void bench_kernels(const Context &context, const std::string &form, bool quick, BenchLog &log);

// GCM and ChaCha20-Poly1305 on the card. `form` (LANECRYPT_HASH_FORM) says how the
// context's devices hash long messages.
void bench_hashes(const Context &context, const std::string &form, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
