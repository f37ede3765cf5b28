// Measures hashes with OpenSSL's default provider, for comparison with devices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bench/report/log.h"

namespace lanecrypt::bench {

// Adds the rows `NAME.openssl` and `NAME.openssl-all-cores`, in GB/s for messages of 1 MiB, of the
// digest that OpenSSL calls `digest`. Returns the rate of one core, if that row is wanted.
std::optional<double> bench_openssl_hash(const std::string &name, const std::string &digest,
                                         const Patience &patience, BenchLog &log);

}  // namespace lanecrypt::bench
