// The rows of `lanecrypt bench aes` for messages of many lengths, each with a key of its
// own, in modes in which a message is a chain.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/load/data.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// For CBC encryption, CFB encryption, OFB and CCM on the card, in one call each: as many
// messages of 16 KiB as `bytes` hold (`.card-alike`), and as many of 1 to 32 KiB, drawn
// at random (`.card-mixed`). All keys differ. Outputs and tags are compared with
// OpenSSL's. Throws Failure (kFailed) if one differs.
void bench_mixed(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                 const Patience &patience, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
