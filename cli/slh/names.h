// The names of SLH-DSA parameter sets and of the hashes of pre-hash signatures on the command line.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

// Finds a set by a name such as "SHA2-128s" or "SLH-DSA-SHA2-128s", in upper or lower case. Throws
// Failure (kUsage).
lc_slh_dsa_set find_slh_set(const std::string &name);
// Returns all short names in one text.
std::string slh_set_names();

// Finds a hash by its name in openssl dgst, such as "sha256", "sha3-512" or "shake128". Throws
// Failure (kUsage).
lc_pre_hash find_pre_hash(const std::string &name);
std::string pre_hash_names();

}  // namespace lanecrypt::cli
