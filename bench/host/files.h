// The rows of `lanecrypt bench host` for files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/host/evp.h"
#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// Measures AES-256-CTR from a file of `bytes` in `folder` to another file: whole programs from
// start to exit, and their CPU time. The programs are `openssl enc` from the PATH, with its
// default buffer and with one of 1 MiB, and this command's `enc`, with its own choice
// (`.own-choice`) and on each device. Compares the output of each run with that of `openssl enc`.
// Throws Failure (kFailed) if one differs or a program fails, and Failure (kUsage) if the folder
// has no room for three such files.
void bench_files(const std::string &folder, const std::vector<EvpDevice> &devices, uint64_t bytes,
                 unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
