// `lanecrypt bench host`: what a program with its data in host memory gains, and how much
// of the CPU it has left meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// On each selected device, in turn with OpenSSL on one core and on all: AES-256 from
// pinned memory to pinned memory, CBC encryption of many streams, and one
// EVP_EncryptUpdate through the provider `module` (unless that is ""). Also what it costs
// to check the device's output, several devices together, what a task on the same core
// keeps of it, and, unless `folder` is "", files in it.
// Figures are GB/s. In rows that end in `.cpu` they are ms of CPU time for a GB, in those
// that end in `.submit` ms until a job of many streams is handed over. The output of each
// run is compared with OpenSSL's. Throws Failure (kFailed) if one differs.
void bench_host(const Context &context, const std::string &module, const std::string &folder,
                bool quick, BenchLog &log);

}  // namespace lanecrypt::bench
