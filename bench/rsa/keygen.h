// `lanecrypt bench rsa`, key generation: single keys and batches on each device, compared with
// OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// The library checks every key. Throws Failure (kFailed) if a key is missing or was not made on
// the device.
void bench_keygen(const Context &context, bool quick, BenchLog &log);

// Makes `count` keys on a device and returns the seconds. Throws like bench_keygen().
double make_keys(const Context &context, uint32_t device, unsigned bits, uint64_t count);
// Makes `count` keys in all by OpenSSL on `cores` cores and returns the seconds.
double make_keys_by_openssl(unsigned bits, unsigned cores, unsigned count);

}  // namespace lanecrypt::bench
