// The rows of `lanecrypt bench host` for the share of its core that a program keeps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/host/evp.h"
#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// Measures which percentage of its core a task that only counts keeps while all threads of an
// AES-128-CTR job are on the same core. The job runs with OpenSSL (`idle.openssl`), or on each
// device from pinned memory, from ordinary memory and through EVP with the provider `module`
// (`idle-pinned`, `idle-pageable`, `idle-evp`). It runs as fast as it can, and at several rates in
// GB/s from the slowest up, as far as it reaches them. BenchResult::gb_per_s of a row is the job's
// rate.
void bench_host_idle(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                     bool quick, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
