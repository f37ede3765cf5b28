// The hashes of `lanecrypt hash`, by their option names.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {

struct HashAlgorithm {
  const char *name;  // the option without dashes; the name of openssl dgst if it has one
  lc_hash hash;
  uint64_t digest_bytes;  // the default length
  bool any_digest_bytes;
  bool has_leaf_bytes;  // a tree hash whose leaf size the caller chooses
};

std::span<const HashAlgorithm> hash_algorithms();

// Returns the hash's name in a line such as "SHA256 (NAME) = DIGEST": the name in upper case, as
// sha256sum --tag and b3sum --tag write it.
std::string tag_of(const HashAlgorithm &algorithm);

}  // namespace lanecrypt::cli
