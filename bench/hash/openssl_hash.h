// Hashes by OpenSSL's default provider, for comparison with devices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bench/report/log.h"

namespace lanecrypt::bench {

// Adds the rows `NAME.openssl` and `NAME.openssl-all-cores`: GB/s for messages of 1 MiB with
// OpenSSL's digest `digest`. Returns the rate of one core, if that row is wanted.
std::optional<double> bench_openssl_hash(const std::string &name, const std::string &digest,
                                         const Patience &patience, BenchLog &log);

}  // namespace lanecrypt::bench
