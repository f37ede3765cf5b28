// SLH-DSA by the calling core alone: the kernels' own code, a thread_block of one thread after the
// other. So it is there with every libcrypto, also below 3.5. Its time does not depend on a secret.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "job/slh_set.h"
#include "job/status.h"
#include "kernels/slh/slh_layout.h"

namespace lanecrypt::cpu {

// The roots that a signature leads to, n bytes of each layer, the lowest first.
using SlhRoots = std::array<uint8_t, size_t{SLH_MOST_LAYERS} * 32>;

// Of the sets of FIPS 205; those of the draft would take a core minutes. Writes the signature but
// for its first n bytes, R. LC_ERROR_INTERNAL, and nothing is written, if it is not right.
Status host_slh_sign(const SlhSet &set, const SlhItem &item, std::span<uint8_t> signature,
                     SlhRoots &roots);
// PK.root of the key of the item.
Status host_slh_root(const SlhSet &set, const SlhItem &item, std::span<uint8_t> root);
// Of the tree of a set of the draft: the node of SlhSet::kKeptHeight that stands above leaf
// item.leaf, in the kernels' form; and the root, from all nodes of that height.
Status host_slh_part(const SlhSet &set, const SlhItem &item, uint32_t *node);
Status host_slh_root_of(const SlhSet &set, const SlhItem &item, const uint32_t *nodes,
                        std::span<uint8_t> root);
// Sets `valid`, unless memory is short.
Status host_slh_verify(const SlhSet &set, const SlhItem &item, std::span<const uint8_t> signature,
                       bool &valid, SlhRoots &roots);

}  // namespace lanecrypt::cpu
