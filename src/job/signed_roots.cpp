// SPDX-License-Identifier: Apache-2.0
#include "job/signed_roots.h"

#include <cstring>

namespace lanecrypt {
namespace {

// Returns the bits of a tree's number in a layer.
uint32_t bits_of_layer(const SlhSet &set, uint32_t layer) {
  return set.height - set.tree_height * (layer + 1);
}

bool is_kept(const SlhSet &set, uint32_t layer) {
  const uint32_t bits = bits_of_layer(set, layer);
  return bits < 32 && uint64_t{1} << bits <= SignedRoots::kMostTrees;
}

size_t entries_of(const SlhSet &set) {
  size_t entries = 0;
  for (uint32_t layer = set.layers - 1; layer-- > 0 && is_kept(set, layer);)
    entries += size_t{1} << bits_of_layer(set, layer);
  return entries;
}

}  // namespace

SignedRoots::SignedRoots(const SlhSet &set, bool keeps)
    : set_(set), entries_(keeps ? entries_of(set) : 0) {}

bool SignedRoots::agree(uint64_t tree, std::span<const uint8_t> roots) {
  // If a root differs, the signature is not returned, and none of its roots are recorded.
  for (const bool keeps : {false, true}) {
    size_t first = 0;
    for (uint32_t layer = set_.layers - 1; layer-- > 0 && is_kept(set_, layer);) {
      uint64_t root, known = 0;
      std::memcpy(&root, &roots[size_t{layer} * set_.n], sizeof root);
      root |= 1;
      std::atomic<uint64_t> &entry = entries_[first + (tree >> (set_.tree_height * layer))];
      if (keeps)
        entry.compare_exchange_strong(known, root);
      else
        known = entry.load();
      if (known != 0 && known != root) return false;
      first += size_t{1} << bits_of_layer(set_, layer);
    }
  }
  return true;
}

}  // namespace lanecrypt
