// What users call the parameter sets of SLH-DSA and the hashes of pre-hash signatures.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

// "SHA2-128s" or "SLH-DSA-SHA2-128s", in upper or lower case. Throws Failure (kUsage).
lc_slh_dsa_set find_slh_set(const std::string &name);
// All short names, in a row.
std::string slh_set_names();

// "sha256", "sha3-512", "shake128" ... as openssl dgst has them. Throws Failure (kUsage).
lc_pre_hash find_pre_hash(const std::string &name);
std::string pre_hash_names();

}  // namespace lanecrypt::cli
