// `lanecrypt bench host`: what a program with its data in host memory gains, and how much CPU
// time that leaves for other work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Measures each selected device in turn with OpenSSL on one core and on all: AES-256 from pinned
// memory to pinned memory, CBC encryption of many streams, and one EVP_EncryptUpdate() through
// the provider `module` (unless it is ""). Also measures the cost of checking a device's output,
// several devices together, the share of a core that a concurrent task keeps and, unless `folder`
// is "", files in it. Figures are in GB/s. Rows that end in `.cpu` are in ms of CPU time per GB,
// rows that end in `.submit` in ms until the submit call of a job of many streams returns.
// Compares the output of each run with OpenSSL's. Throws Failure (kFailed) if one differs.
void bench_host(const Context &context, const std::string &module, const std::string &folder,
                bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
