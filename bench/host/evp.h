// The rows of `lanecrypt bench host` for work through OpenSSL's EVP.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/load/data.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {

// A device: `id` for the provider's setting `devices`, `where` for the results.
struct EvpDevice {
  std::string id, where;
};

// Measures one EVP_EncryptUpdate() over `bytes` of ordinary memory in pages of 4 KiB: by OpenSSL
// alone, by the provider `module` with all bytes on each device, and with the provider's own
// choice (`own-choice`). Two more rows give the percentage of the bytes that the provider ran on
// several cores and on devices when it chose itself. If `module` is "", only OpenSSL is measured
// and stderr says so. AES-128-CTR is measured in place and out of place; CTR of other block
// ciphers is measured in place (`evp-in-place`) and compared with OpenSSL on all cores, each with
// a message of its own (`openssl-cores`).
void bench_host_evp(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                    uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
