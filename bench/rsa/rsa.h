// `lanecrypt bench rsa`: RSA in batches of several sizes on each device, signatures
// through EVP, and new keys, beside OpenSSL on one core and on all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Runs all of it, with keys made for it. The result of every operation is compared with
// OpenSSL's (by its public operation). Throws Failure (kFailed) if one differs. `module`
// is as for bench_evp().
void bench_rsa(const Context &context, const std::string &module, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
