// Loads of EVP: threads that sign, and threads that run many ASYNC jobs which sign.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::bench {

struct Load {
  OSSL_LIB_CTX *library;
  const char *properties;
  // The keys. Thread n uses key n modulo their number.
  std::span<EVP_PKEY *const> keys;
  size_t threads = 1;
  // If 0, each thread calls EVP_DigestSign(), which blocks. Otherwise each thread runs this many
  // jobs, each of which calls EVP_PKEY_sign() in a loop.
  size_t jobs = 0;
};

struct Work {
  double signatures_per_second;
  double cores_busy;  // CPU time divided by elapsed time
};

// Runs `load` for `warm_up_seconds`, which do not count, and then for `seconds`. Throws Failure
// (kFailed) if a signature failed, or if a thread or a job did not start.
Work run_load(const Load &load, double warm_up_seconds, double seconds);

}  // namespace lanecrypt::bench
