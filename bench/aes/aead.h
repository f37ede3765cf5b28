// The rows of `lanecrypt bench aes` for GCM and ChaCha20-Poly1305, on data that
// lie on the card.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/load/data.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// One message of `bytes`, encrypted and decrypted, and a batch of packets. Outputs and
// tags are compared with OpenSSL's. Throws Failure (kFailed) if one differs.
void bench_aead(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                const Patience &patience, const BenchData &data, BenchLog &log);

// One message of `bytes`, encrypted, in the way in which the context's devices hash.
void bench_hashing(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                   const Patience &patience, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
