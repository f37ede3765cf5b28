// The rows of `lanecrypt bench host` for what comes through OpenSSL's EVP.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::cli {

// As the provider's setting `devices` names it, and as results do.
struct EvpDevice {
  std::string id, where;
};

// One EVP_EncryptUpdate of AES-128-CTR over `bytes` of ordinary memory of 4 KiB pages,
// in place and apart: by OpenSSL alone; by the provider `module` on each device, to
// which all goes; and where the provider chooses it (`own-choice`), of which two more rows
// have what several cores, and devices, did of it, in per cent. "": there is no provider,
// and stderr hears of it.
void bench_host_evp(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                    uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::cli
