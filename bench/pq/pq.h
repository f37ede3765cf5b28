// `lanecrypt bench pq`: measures post-quantum signatures on each device and with OpenSSL. There is
// one source file for each family.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/pq/openssl_pq.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Throw Failure (kFailed) if an operation fails.
void bench_ml_dsa(const Context &context, const std::vector<OpensslPq> &openssls, bool quick,
                  BenchLog &log);
void bench_slh_dsa(const Context &context, const std::vector<OpensslPq> &openssls, bool quick,
                   BenchLog &log);
// Measures one signature after the other through EVP, with the provider `module` on each device. If
// that is "", this is noted.
void bench_slh_dsa_evp(const Context &context, const std::string &module, bool quick,
                       BenchLog &log);

}  // namespace lanecrypt::bench
