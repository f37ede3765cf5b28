// The rows of `lanecrypt bench host` for what a program keeps of its core meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/host/evp.h"
#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// How much of its core a task that only counts keeps, in per cent, while all threads of
// an AES-128-CTR job have that same core. OpenSSL does the job (`idle.openssl`), or each
// device does, from pinned memory, from ordinary memory and through EVP by the provider
// `module` (`idle-pinned`, `idle-pageable`, `idle-evp`). The job runs as fast as it can,
// and at several rates in GB/s from the slowest up, as far as it reaches them.
// BenchResult::gb_per_s of a row has the job's rate.
void bench_host_idle(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                     bool quick, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
