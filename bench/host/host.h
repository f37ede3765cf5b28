// `lanecrypt bench host`: what a program gains whose data are in host memory, and what
// of the CPU it has left meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// On each selected device, in turn with OpenSSL on one core and on all: AES-256 from
// pinned memory to pinned memory, CBC encryption of many streams, one EVP_EncryptUpdate
// through the provider `module` (left out where that is ""), what it costs to check the
// device's output, several devices together, and what a task on the same core keeps of
// it; and, where `folder` is not "", files in it. GB/s and, in rows that end in `.cpu`,
// ms of CPU time a GB; in those that end in `.submit`, ms until a job of many streams is
// handed over. The output of each run is compared with OpenSSL's; throws Failure
// (kFailed) where one differs.
void bench_host(const Context &context, const std::string &module, const std::string &folder,
                bool quick, BenchLog &log);

}  // namespace lanecrypt::cli
