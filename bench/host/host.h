// `lanecrypt bench host`: what a program with its data in host memory gains, and how much CPU time
// it has left.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Measures each selected device, alternating with OpenSSL on one core and on all cores: AES-256
// from pinned memory to pinned memory, CBC encryption of many streams, and one EVP_EncryptUpdate
// through the provider `module` (unless that is ""). Also measures the cost of checking the
// device's output, several devices together, how much of its core another task keeps, and, unless
// `folder` is "", files in it. Figures are in GB/s. Rows that end in `.cpu` are ms of CPU time per
// GB; those that end in `.submit` are ms until a job of many streams has been submitted. Compares
// the output of each run with OpenSSL's. Throws Failure (kFailed) if one differs.
void bench_host(const Context &context, const std::string &module, const std::string &folder,
                bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
