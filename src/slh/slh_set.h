// The parameter sets of SLH-DSA (FIPS 205, table 2).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lanecrypt::runtime {

struct SlhSet {
  std::string_view name;  // as OpenSSL has it, after "SLH-DSA-"
  bool shake;
  uint32_t n;
  uint32_t height, layers;           // h and d
  uint32_t tree_height;              // h'
  uint32_t fors_height, fors_trees;  // a and k

  uint32_t chains() const { return 2 * n + 3; }
  uint32_t fors_bytes() const { return (fors_height * fors_trees + 7) / 8; }
  uint32_t tree_bytes() const { return (height - tree_height + 7) / 8; }
  uint32_t leaf_bytes() const { return (tree_height + 7) / 8; }
  // Of the message's digest: m.
  uint32_t digest_bytes() const { return fors_bytes() + tree_bytes() + leaf_bytes(); }
  uint32_t signature_bytes() const {
    return n * (1 + fors_trees * (fors_height + 1) + height + layers * chains());
  }
  // How the names of its kernels begin.
  std::string kernels() const {
    return (shake ? "slh_shake_" : "slh_sha2_") + std::to_string(n) + "_";
  }
};

std::span<const SlhSet> slh_sets();
// nullptr if there is no such set.
const SlhSet *find_slh_set(std::string_view name);

}  // namespace lanecrypt::runtime
