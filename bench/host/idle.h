// The rows of `lanecrypt bench host` for what a program keeps of its core meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/host/evp.h"
#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::cli {

// What a task that only counts keeps of its core, in per cent, while all threads of an
// AES-128-CTR job have that same core: by OpenSSL (`idle.openssl`), and by each device
// from pinned memory, from ordinary memory and through EVP by the provider `module`
// (`idle-pinned`, `idle-pageable`, `idle-evp`). As fast as it goes, and paced to several
// GB/s from the slowest on, as far as it gets; a row has what the job did, in
// BenchResult::gb_per_s.
void bench_host_idle(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                     bool quick, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::cli
