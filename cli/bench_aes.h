// `lanecrypt bench aes`: AES on each device, alone and with the copies, beside
// OpenSSL on one core.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench_results.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// Runs all of it. Every output is compared with OpenSSL's; throws Failure
// (kFailed) where one differs. Only results whose names `wants` takes are measured;
// `tell_next` hears what is measured now, and `keep` is given all results before it.
std::vector<BenchResult> bench_aes(
    const Context &context, bool quick, const Wants &wants,
    const std::function<void(const std::string &)> &tell_next,
    const std::function<void(const std::vector<BenchResult> &)> &keep);

// The same with the data on the card alone. `form` is that of the context's
// kernels; devices that cannot run it are left out.
std::vector<BenchResult> bench_kernels(const Context &context, const std::string &form, bool quick,
                                       const Wants &wants,
                                       const std::function<void(const std::string &)> &tell);

// GCM and ChaCha20-Poly1305 on the card, where `form` is how the context's devices
// hash long messages: LANECRYPT_HASH_FORM.
std::vector<BenchResult> bench_hashes(const Context &context, const std::string &form, bool quick,
                                      const Wants &wants,
                                      const std::function<void(const std::string &)> &tell);

}  // namespace lanecrypt::cli
