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

// The roots that a signature leads to, n bytes for each layer, the lowest first.
using SlhRoots = std::array<uint8_t, size_t{SLH_MOST_LAYERS} * 32>;

// Makes a signature, except its first n bytes, R (FIPS 205, Algorithm 19, slh_sign_internal, after
// H_msg). Returns LC_ERROR_INTERNAL, and writes nothing, if the signature is not right. Only for
// the sets of FIPS 205; those of the draft would take a core minutes.
Status host_slh_sign(const SlhSet &set, const SlhItem &item, std::span<uint8_t> signature,
                     SlhRoots &roots);
// Computes PK.root of the key of `item` (FIPS 205, Algorithm 18, slh_keygen_internal).
Status host_slh_root(const SlhSet &set, const SlhItem &item, std::span<uint8_t> root);
// For the tree of a draft's set: host_slh_part() computes the node at SlhSet::kKeptHeight above
// leaf item.leaf, in the kernels' byte order, and host_slh_root_of() the root, from all nodes at
// that height.
Status host_slh_part(const SlhSet &set, const SlhItem &item, uint32_t *node);
Status host_slh_root_of(const SlhSet &set, const SlhItem &item, const uint32_t *nodes,
                        std::span<uint8_t> root);
// Verifies a signature (FIPS 205, Algorithm 20, slh_verify_internal, after H_msg). Sets `valid`
// unless memory is lacking.
Status host_slh_verify(const SlhSet &set, const SlhItem &item, std::span<const uint8_t> signature,
                       bool &valid, SlhRoots &roots);

}  // namespace lanecrypt::cpu
