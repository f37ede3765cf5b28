// Callers of EVP at work: threads that sign, and threads that run many jobs of
// ASYNC which sign.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanecrypt::cli {

struct Load {
  OSSL_LIB_CTX *library;
  const char *properties;
  // Of each thread in turn: one for all, or as many as there are threads.
  std::span<EVP_PKEY *const> keys;
  size_t threads = 1;
  // 0: each thread calls EVP_DigestSign() and waits. Otherwise each runs so many
  // jobs, which call EVP_PKEY_sign() one time after another.
  size_t jobs = 0;
};

struct Work {
  double signatures_per_second;
  double cores_busy;  // CPU time over time
};

// Runs a load: first without being counted, then for the seconds given. Throws
// Failure (kFailed) where a signature failed, or a thread or a job did not start.
Work run_load(const Load &load, double warm_up_seconds, double seconds);

}  // namespace lanecrypt::cli
