// What the one-time keys of the upper layers of an SLH-DSA key have signed: the roots of the
// trees below. Each such key may sign one root only. A tree that a fault changed has another
// root, and its signature looks right; but two different ones under one key let others graft
// trees of their own (L. Castelnovi, A. Martinelli and T. Prest, "Grafting Trees: a Fault
// Attack against the SPHINCS framework", PQCrypto 2018).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "job/slh_set.h"

namespace lanecrypt {

// Any thread, and a child of fork too: there is no lock.
class SignedRoots {
 public:
  // keeps: false for a key that signs nothing, which needs no memory for it.
  SignedRoots(const SlhSet &set, bool keeps);
  SignedRoots(const SignedRoots &) = delete;

  // The roots of one signature, whose lowest tree has the number `tree`: n bytes of each layer
  // but the top one, the lowest first. False where one differs from what its one-time key
  // signed before. Those of layers with at most kMostTrees trees are kept.
  bool agree(uint64_t tree, std::span<const uint8_t> roots);
  static constexpr uint32_t kMostTrees = 4096;

 private:
  const SlhSet &set_;
  // The first 8 bytes of each root, and a bit that says that there is one; the upper layers
  // first.
  std::vector<std::atomic<uint64_t>> entries_;
};

}  // namespace lanecrypt
