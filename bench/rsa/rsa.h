// `lanecrypt bench rsa`: measures RSA in batches of several sizes on each device, signatures
// through EVP, and key generation, compared with OpenSSL on one core and on all cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Runs all measurements, with new keys. Checks the result of every operation with OpenSSL's public
// operation. Throws Failure (kFailed) if one is wrong. `module` is as for bench_evp().
void bench_rsa(const Context &context, const std::string &module, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
