// `lanecrypt bench rsa`, signatures through EVP: by the provider on each device, and by OpenSSL
// alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Measures one caller, many threads, and threads with many ASYNC jobs, with one key for all or a
// key for each thread. The provider is `module`. If `module` is "", only OpenSSL is measured.
// Throws Failure (kFailed) if a signature fails.
void bench_evp(const Context &context, const std::string &module, bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
