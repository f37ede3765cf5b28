// Measures signatures, verifications and key generation with OpenSSL's default provider, for
// comparison with devices.
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
  std::string name;  // the name in rows: "openssl", or with its version, "openssl-4.0"
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

// Returns the libcrypto of the program, and those in the given files, which stay open. Throws
// Failure (kUsage) if one cannot be opened.
std::vector<OpensslPq> open_openssls(const std::vector<std::string> &files);

// Adds the rows `NAME.sign.openssl`, signatures of 32-byte messages per second on one core,
// `NAME.verify...` and `NAME.keygen...`, and the same with the suffix `-all-cores`, for each
// OpenSSL. NAME is OpenSSL's name of the algorithm in lower case. An OpenSSL without the algorithm
// is noted.
void bench_openssl_pq(const std::vector<OpensslPq> &openssls, const std::string &algorithm,
                      Patience patience, BenchLog &log);

// Returns OpenSSL's name in lower case, as in rows.
std::string row_name(const std::string &algorithm);

}  // namespace lanecrypt::bench
