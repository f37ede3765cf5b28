// Records what the one-time keys of the upper layers of an SLH-DSA key have signed: the roots of
// the trees below. Each such key may sign one root only. A tree that a fault has changed has
// another root, and its signature verifies; but two different roots under one key let an attacker
// graft its own trees (L. Castelnovi, A. Martinelli and T. Prest, "Grafting Trees: a Fault Attack
// against the SPHINCS framework", PQCrypto 2018).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "job/slh_set.h"

namespace lanecrypt {

// `SignedRoots` is thread-safe, and safe in a child of fork(): there is no lock.
class SignedRoots {
 public:
  // `keeps` is false for a key that does not sign and needs no memory for this.
  SignedRoots(const SlhSet &set, bool keeps);
  SignedRoots(const SignedRoots &) = delete;

  // Takes the roots of one signature, whose lowest tree has the number `tree`: n bytes of each
  // layer but the top one, the lowest first. Returns false if one differs from what its one-time
  // key signed before. Otherwise the roots of layers with at most kMostTrees trees are recorded.
  bool agree(uint64_t tree, std::span<const uint8_t> roots);
  static constexpr uint32_t kMostTrees = 4096;

 private:
  const SlhSet &set_;
  // The first 8 bytes of each root, with a bit that says that there is one; the upper layers first.
  std::vector<std::atomic<uint64_t>> entries_;
};

}  // namespace lanecrypt
