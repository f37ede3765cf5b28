// The parameter sets of SLH-DSA (FIPS 205, Table 2), and those of the draft SP 800-230.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

struct SlhSet {
  lc_slh_dsa_set number;
  const char *name;  // OpenSSL's name
  bool shake;
  uint32_t n;
  uint32_t height, layers;           // h and d
  uint32_t tree_height;              // h'
  uint32_t fors_height, fors_trees;  // a and k
  uint32_t lg_w = 4;

  // Returns whether the set is one of the draft, which has one tree with millions of leaves.
  constexpr bool is_draft() const { return lg_w != 4; }
  // The number of values of a WOTS+ chain: w.
  constexpr uint32_t chain_values() const { return 1u << lg_w; }
  // The chains of a WOTS+ key: one for each digit of a message and of the greatest checksum (len,
  // FIPS 205, section 5).
  constexpr uint32_t chains() const {
    const uint32_t digits = 8 * n / lg_w;
    uint32_t count = digits;
    for (uint32_t sum = digits * (chain_values() - 1); sum != 0; sum >>= lg_w) ++count;
    return count;
  }
  constexpr uint32_t fors_bytes() const { return (fors_height * fors_trees + 7) / 8; }
  constexpr uint32_t tree_bytes() const { return (height - tree_height + 7) / 8; }
  constexpr uint32_t leaf_bytes() const { return (tree_height + 7) / 8; }
  // Bytes of the message's digest: m.
  constexpr uint32_t digest_bytes() const { return fors_bytes() + tree_bytes() + leaf_bytes(); }
  constexpr uint32_t signature_bytes() const {
    return n * (1 + fors_trees * (fors_height + 1) + height + layers * chains());
  }
  // The height of the nodes of a draft's tree that may be kept with a key.
  static constexpr uint32_t kKeptHeight = 9;
  constexpr uint32_t kept_nodes() const {
    return is_draft() && tree_height > kKeptHeight ? 1u << (tree_height - kKeptHeight) : 0;
  }
  constexpr uint32_t kept_bytes() const { return n * kept_nodes(); }
  constexpr uint32_t seed_bytes() const { return 3 * n; }
  constexpr uint32_t public_bytes() const { return 2 * n; }
  constexpr uint32_t private_bytes() const { return 4 * n; }
  // Returns the beginning of the names of its kernels.
  std::string kernels() const {
    return (shake ? "slh_shake_" : "slh_sha2_") + std::to_string(n) +
           (is_draft() ? "w" + std::to_string(chain_values()) : "") + "_";
  }
};

// The longest digest of a message in bytes: the greatest m.
inline constexpr uint32_t kMostSlhDigestBytes = 49;

// Returns nullptr if there is no such set.
const SlhSet *find_slh_set(uint32_t number);
// place_of() returns a consecutive number for each set, from 0 on.
inline constexpr uint32_t kSlhSets = 18;
uint32_t place_of(const SlhSet &set);
// Finds a set by its name after "SLH-DSA-".
const SlhSet *find_slh_set(std::string_view name);

}  // namespace lanecrypt
