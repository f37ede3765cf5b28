// Signatures, verifications and keys by OpenSSL's default provider, for comparison with devices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <string>
#include <vector>

#include "bench/report/log.h"

namespace lanecrypt::bench {

// The functions of one libcrypto.
struct OpensslPq {
  std::string name;  // in rows: "openssl", or with its version, "openssl-4.0"
  decltype(&EVP_PKEY_Q_keygen) make_key;
  decltype(&EVP_PKEY_free) free_key;
  decltype(&EVP_PKEY_get_size) signature_bytes;
  decltype(&EVP_MD_CTX_new) make_context;
  decltype(&EVP_MD_CTX_free) free_context;
  decltype(&EVP_DigestSignInit_ex) begin_sign;
  decltype(&EVP_DigestSign) sign;
  decltype(&EVP_DigestVerifyInit_ex) begin_verify;
  decltype(&EVP_DigestVerify) verify;
};

// Returns the libcrypto of this program and those in `files`, which stay loaded. Throws Failure
// (kUsage) if one cannot be loaded.
std::vector<OpensslPq> open_openssls(const std::vector<std::string> &files);

// Adds the rows `NAME.sign.openssl`, `NAME.verify.openssl` and `NAME.keygen.openssl` (operations
// a second on one core, with messages of 32 bytes), and the same with `-all-cores` at the end,
// for each OpenSSL. NAME is OpenSSL's name of the algorithm in lower case. A note names an
// OpenSSL that does not support the algorithm.
void bench_openssl_pq(const std::vector<OpensslPq> &openssls, const std::string &algorithm,
                      Patience patience, BenchLog &log);

// OpenSSL's name in lower case, as rows have it.
std::string row_name(const std::string &algorithm);

}  // namespace lanecrypt::bench
