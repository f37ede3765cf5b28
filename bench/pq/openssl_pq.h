// Signatures, verifications and keys by OpenSSL's default provider, beside which devices are
// measured.
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

// The program's own, and those of these files, which stay open. Throws Failure (kUsage) if one
// cannot be opened.
std::vector<OpensslPq> open_openssls(const std::vector<std::string> &files);

// Adds the rows `NAME.sign.openssl`, signatures of 32 bytes a second on one core, `NAME.verify...`
// and `NAME.keygen...`, and the same with `-all-cores` at the end, of each OpenSSL. NAME is
// OpenSSL's name of the algorithm in small letters. An OpenSSL that does not have it is noted.
void bench_openssl_pq(const std::vector<OpensslPq> &openssls, const std::string &algorithm,
                      Patience patience, BenchLog &log);

// OpenSSL's name in small letters, as rows have it.
std::string row_name(const std::string &algorithm);

}  // namespace lanecrypt::bench
