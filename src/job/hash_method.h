// The hashes that can be asked for, by one table.
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
  uint32_t digest_bytes;  // the usual number
  bool any_digest_bytes;
  uint32_t block_bytes;  // of the compression, or the rate
  uint32_t pad;          // Keccak's: the bits of the domain, and the first of the padding
  uint32_t value_bytes;  // what a tree makes of each leaf; 0: no tree
  bool has_key, has_text;
  bool is_endless;  // ParallelHashXOF: the output does not depend on its length

  // Whether the caller says how long a leaf is.
  bool has_leaf_bytes() const {
    return family == HashFamily::kMerkle || family == HashFamily::kParallel;
  }
};

// nullptr if there is no such hash.
const HashMethod *find_hash_method(const lc_hash &hash);

}  // namespace lanecrypt
