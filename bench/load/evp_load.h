// Load through EVP: threads that sign, and threads that run many ASYNC jobs that sign.
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
  // The keys, which the threads use in turn: one for all, or one for each thread.
  std::span<EVP_PKEY *const> keys;
  size_t threads = 1;
  // 0: each thread calls EVP_DigestSign() and waits. Otherwise each thread runs this many jobs,
  // each of which calls EVP_PKEY_sign() repeatedly.
  size_t jobs = 0;
};

struct Work {
  double signatures_per_second;
  double cores_busy;  // CPU time divided by time
};

// Runs a load: a warm-up, then the given seconds. Throws Failure (kFailed) if a signature failed,
// or if a thread or a job could not be started.
Work run_load(const Load &load, double warm_up_seconds, double seconds);

}  // namespace lanecrypt::bench
