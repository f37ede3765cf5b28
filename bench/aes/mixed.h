// The rows of `lanecrypt bench aes` for messages of many lengths, each with its own key, in modes
// that chain the blocks of a message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/load/data.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Measures CBC encryption, CFB encryption, OFB and CCM in device memory, one call for each: as
// many messages of 16 KiB as fit into `bytes` (`.card-alike`), and the same number of messages of
// 1 to 32 KiB with random lengths (`.card-mixed`). All keys differ. Compares outputs and tags
// with OpenSSL's. Throws Failure (kFailed) if one differs.
void bench_mixed(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                 const Patience &patience, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
