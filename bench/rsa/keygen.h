// `lanecrypt bench rsa`, the making of keys: one by one and in bulk, on each
// device, beside OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// Every key was checked by the library; throws Failure (kFailed) where one is
// missing or was not made on the device.
void bench_keygen(const Context &context, bool quick, BenchLog &log);

// Seconds to make so many keys on a device, all of them; throws as above.
double make_keys(const Context &context, uint32_t device, unsigned bits, uint64_t count);
// Seconds for `count` keys of OpenSSL's in all, which so many cores share.
double make_keys_by_openssl(unsigned bits, unsigned cores, unsigned count);

}  // namespace lanecrypt::cli
