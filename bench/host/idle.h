// The rows of `lanecrypt bench host` for the share of a core that a concurrent program keeps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/host/evp.h"
#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// Measures how much of its core a task that only counts keeps, in per cent, while all threads of
// an AES-128-CTR job share that core. The job is done by OpenSSL (`idle.openssl`) or by each
// device: from pinned memory, from ordinary memory, and through EVP by the provider `module`
// (`idle-pinned`, `idle-pageable`, `idle-evp`). The job runs at full speed, and then at several
// rates in GB/s from the lowest to the highest that it reaches. BenchResult::gb_per_s of a row
// has the job's rate.
void bench_host_idle(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                     bool quick, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
