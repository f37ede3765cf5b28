// The rows of `lanecrypt bench host` for work through OpenSSL's EVP.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// The name of a device in the provider's setting `devices`, and in results.
struct EvpDevice {
  std::string id, where;
};

// Measures one EVP_EncryptUpdate over `bytes` of ordinary memory in pages of 4 KiB: with OpenSSL
// alone, with the provider `module` forced to each device, and with the provider's own choice
// (`own-choice`). For the latter, two more rows say which percentage several cores and devices did.
// If `module` is "", the provider is not measured, and a message on standard error says so.
// AES-128-CTR runs in place and out of place; the other block ciphers' CTR runs in place
// (`evp-in-place`), and for comparison OpenSSL on all cores, each with its own message
// (`openssl-cores`).
void bench_host_evp(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                    uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
