// `lanecrypt bench rsa`: RSA in batches of several sizes on each device, signatures through EVP,
// and key generation, compared with OpenSSL on one core and on all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Runs all measurements with newly generated keys. Checks the result of every operation by
// OpenSSL's public operation. Throws Failure (kFailed) if one is wrong. `module` is as for
// bench_evp().
void bench_rsa(const Context &context, const std::string &module, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
