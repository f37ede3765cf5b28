// The parameter sets of SLH-DSA (FIPS 205, table 2).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

struct SlhSet {
  lc_slh_dsa_set number;  // its place in slh_sets() too
  const char *name;       // as OpenSSL has it
  bool shake;
  uint32_t n;
  uint32_t height, layers;           // h and d
  uint32_t tree_height;              // h'
  uint32_t fors_height, fors_trees;  // a and k

  constexpr uint32_t chains() const { return 2 * n + 3; }
  constexpr uint32_t fors_bytes() const { return (fors_height * fors_trees + 7) / 8; }
  constexpr uint32_t tree_bytes() const { return (height - tree_height + 7) / 8; }
  constexpr uint32_t leaf_bytes() const { return (tree_height + 7) / 8; }
  // Of the message's digest: m.
  constexpr uint32_t digest_bytes() const { return fors_bytes() + tree_bytes() + leaf_bytes(); }
  constexpr uint32_t signature_bytes() const {
    return n * (1 + fors_trees * (fors_height + 1) + height + layers * chains());
  }
  constexpr uint32_t seed_bytes() const { return 3 * n; }
  constexpr uint32_t public_bytes() const { return 2 * n; }
  constexpr uint32_t private_bytes() const { return 4 * n; }
  // How the names of its kernels begin.
  std::string kernels() const {
    return (shake ? "slh_shake_" : "slh_sha2_") + std::to_string(n) + "_";
  }
};

// The longest digest of a message, m.
inline constexpr uint32_t kMostSlhDigestBytes = 49;

std::span<const SlhSet> slh_sets();
// nullptr if there is no such set.
const SlhSet *find_slh_set(uint32_t number);
// By its name after "SLH-DSA-".
const SlhSet *find_slh_set(std::string_view name);

}  // namespace lanecrypt
