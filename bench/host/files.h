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

// AES-256-CTR from a file of `bytes` in `folder` to another: whole programs from start to
// end, and their CPU time. They are `openssl enc` of the PATH, with its own buffer and
// with one of 1 MiB, and this command's `enc`, as it chooses itself (`.own-choice`) and
// on each device. The output of each run is compared with that of `openssl enc`. Throws
// Failure (kFailed) if one differs or a program fails, and (kUsage) if the folder has no
// room for three such files.
void bench_files(const std::string &folder, const std::vector<EvpDevice> &devices, uint64_t bytes,
                 unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
