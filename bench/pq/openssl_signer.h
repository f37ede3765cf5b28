// Signatures by OpenSSL's default provider, beside which devices are measured.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/report/log.h"

namespace lanecrypt::bench {

// Adds the rows `NAME.sign.openssl` and `NAME.sign.openssl-all-cores`, signatures of 32 bytes a
// second, where NAME is OpenSSL's name of the algorithm in small letters. An OpenSSL that does
// not have it is noted.
void bench_openssl_signer(const std::string &algorithm, const Patience &patience, BenchLog &log);

// OpenSSL's name in small letters, as rows have it.
std::string row_name(const std::string &algorithm);

}  // namespace lanecrypt::bench
