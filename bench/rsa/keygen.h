// `lanecrypt bench rsa`, key generation: one by one and in bulk, on each device, compared with
// OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// The library checks every key. Throws Failure (kFailed) if one is missing or was not made on the
// device.
void bench_keygen(const Context &context, bool quick, BenchLog &log);

// Returns the seconds to make this many keys, all on a device. Throws as above.
double make_keys(const Context &context, uint32_t device, unsigned bits, uint64_t count);
// Returns the seconds that OpenSSL takes to make `count` keys in total on this many cores.
double make_keys_by_openssl(unsigned bits, unsigned cores, unsigned count);

}  // namespace lanecrypt::bench
