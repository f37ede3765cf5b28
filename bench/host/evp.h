// The rows of `lanecrypt bench host` for work through OpenSSL's EVP.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// A device as the provider's setting `devices` names it, and as results name it.
struct EvpDevice {
  std::string id, where;
};

// One EVP_EncryptUpdate over `bytes` of ordinary memory in pages of 4 KiB: by OpenSSL alone,
// by the provider `module` with all of it on each device, and where the provider chooses
// (`own-choice`). For the latter two more rows say how much of it several cores and devices
// did, in per cent. If `module` is "", there is no provider, and stderr says so.
// AES-128-CTR in place and apart; other block ciphers' CTR in place (`evp-in-place`), and
// beside that OpenSSL on all cores, each with a message of its own (`openssl-cores`).
void bench_host_evp(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                    uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
