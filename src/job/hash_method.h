// The table of supported hashes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

enum class HashFamily { kSha256, kSha512, kKeccak, kBlake3, kMerkle, kParallel };

struct HashMethod {
  std::string_view name;
  const char *openssl_name;  // nullptr: OpenSSL does not have it
  HashFamily family;
  uint32_t digest_bytes;  // the default length
  bool any_digest_bytes;
  uint32_t block_bytes;  // of the compression, or the rate
  uint32_t pad;          // for Keccak: the domain suffix and the first bit of the padding
  uint32_t value_bytes;  // bytes of a leaf's value in a tree; 0: no tree
  bool has_key, has_text;
  bool is_endless;  // ParallelHashXOF: the output does not depend on its length

  // Returns whether the caller sets the length of a leaf.
  bool has_leaf_bytes() const {
    return family == HashFamily::kMerkle || family == HashFamily::kParallel;
  }
};

// Returns nullptr if there is no such hash.
const HashMethod *find_hash_method(const lc_hash &hash);

}  // namespace lanecrypt
