// The rows of `lanecrypt bench host` for what comes through OpenSSL's EVP.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench_data.h"
#include "bench_log.h"

namespace lanecrypt::cli {

// As the provider's setting `devices` names it, and as results do.
struct EvpDevice {
  std::string id, where;
};

// One EVP_EncryptUpdate of AES-128-CTR over `bytes` of ordinary memory of 4 KiB pages,
// in place and apart: by OpenSSL alone, and by the provider `module` on each device, to
// which all goes. "": there is no provider, and stderr hears of it.
void bench_host_evp(const std::string &module, const std::vector<EvpDevice> &devices,
                    uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::cli
