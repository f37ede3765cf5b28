// `lanecrypt bench pq`: signatures that withstand quantum computers, on each device and by
// OpenSSL. A file for each family.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/pq/openssl_pq.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Throws Failure (kFailed) if an operation fails.
void bench_ml_dsa(const Context &context, const std::vector<OpensslPq> &openssls, bool quick,
                  BenchLog &log);
void bench_slh_dsa(const Context &context, const std::vector<OpensslPq> &openssls, bool quick,
                   BenchLog &log);
// One signature after the other through EVP, by the provider `module` on each device. If that is
// "", this is noted.
void bench_slh_dsa_evp(const Context &context, const std::string &module, bool quick,
                       BenchLog &log);

}  // namespace lanecrypt::bench
