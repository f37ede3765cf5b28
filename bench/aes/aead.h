// The rows of `lanecrypt bench aes` for the AEAD ciphers (GCM, CCM, ChaCha20-Poly1305), on data
// in device memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/load/data.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// Measures the encryption and the decryption of one message of `bytes` and the encryption of a
// batch of packets. For CCM it measures only batches. Compares outputs and tags with OpenSSL's.
// Throws Failure (kFailed) if one differs.
void bench_aead(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                const Patience &patience, const BenchData &data, BenchLog &log);

// Measures the encryption of one message of `bytes`, with the hash form that the context's
// devices were opened with.
void bench_hashing(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                   const Patience &patience, const BenchData &data, BenchLog &log);

}  // namespace lanecrypt::bench
