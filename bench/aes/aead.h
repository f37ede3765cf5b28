// The rows of `lanecrypt bench aes` for GCM and ChaCha20-Poly1305, with data in device memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/load/data.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Measures one message of `bytes`, encrypted and decrypted, and a batch of packets. Compares
// outputs and tags with OpenSSL's. Throws Failure (kFailed) if one differs.
void bench_aead(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                const Patience &patience, const BenchData &data, BenchLog &log);

// Measures the encryption of one message of `bytes`, with the hash variant of the context's
// devices.
void bench_hashing(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                   const Patience &patience, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
