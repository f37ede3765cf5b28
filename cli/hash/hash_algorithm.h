// The hashes of `lanecrypt hash`, by the names of their options.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

struct HashAlgorithm {
  const char *name;  // the option, without dashes; as openssl dgst has it where that has one
  lc_hash hash;
  uint64_t digest_bytes;  // if the command line does not say
  bool any_digest_bytes;
  bool has_leaf_bytes;  // a tree whose leaves the caller chooses
};

std::span<const HashAlgorithm> hash_algorithms();

// What a line such as "SHA256 (NAME) = DIGEST" calls it: its name in capitals, as sha256sum --tag
// and b3sum --tag have it.
std::string tag_of(const HashAlgorithm &algorithm);

}  // namespace lanecrypt::cli
