// `lanecrypt bench pq`: post-quantum signatures on each device and by OpenSSL. Each family has
// its own file.
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
// Measures one signature after another through EVP, by the provider `module` on each device. If
// `module` is "", a note says so.
void bench_slh_dsa_evp(const Context &context, const std::string &module, bool quick,
                       BenchLog &log);

}  // namespace lanecrypt::bench
