// SLH-DSA (FIPS 205) on the CPU. It is the fallback if a device cannot do its work, and the
// reference against which a device's results are checked.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "job/slh_job.h"
#include "job/status.h"
#include "kernels/slh/slh_layout.h"

namespace lanecrypt::cpu {

// Makes the kernels' form of a key in key.image, and of its kept tree. Returns LC_ERROR_ARGUMENT if
// the tree is not the key's.
Status prepare(SlhKey &key);

// `SlhHashed` is the hashed message of an operation.
struct SlhHashed {
  uint8_t digest[kMostSlhDigestBytes];
  uint8_t r[32];
};
// Hash the message of an operation. To verify, R comes from the signature. `opt_rand`: see
// slh_message.h.
Status hash_to_verify(const SlhJob &job, const SlhMessage &message, SlhHashed &hashed);
Status hash_to_sign(const SlhJob &job, const SlhMessage &message, std::span<const uint8_t> opt_rand,
                    SlhHashed &hashed);
// Writes the kernels' input for a key and a hashed message.
void put_item(const SlhKey &key, const SlhHashed &hashed, SlhItem &item);

// Returns whether the roots that a signature leads to, n bytes for each layer, the lowest first,
// equal what the key has signed before, if it has. If they do, they are recorded (signed_roots.h).
bool do_roots_agree(const SlhKey &key, const SlhHashed &hashed, std::span<const uint8_t> roots);

// Makes a signature (FIPS 205, Algorithm 19, slh_sign_internal, after H_msg), verifies it, and
// compares its roots with what the key has signed before; nothing is written before that. Returns
// LC_ERROR_DEVICE if the key has signed something else. Only for the sets of FIPS 205, like
// slh_make_key(): those of the draft would take a core minutes, and return LC_ERROR_UNSUPPORTED.
Status slh_sign(const SlhKey &key, const SlhHashed &hashed, std::span<uint8_t> signature);
// Verifies a signature (FIPS 205, Algorithm 20, slh_verify_internal, after H_msg). Sets `valid`.
Status slh_verify(const SlhKey &key, const SlhHashed &hashed, std::span<const uint8_t> signature,
                  bool &valid);
// Makes a private key from its seeds (FIPS 205, Algorithm 18, slh_keygen_internal).
Status slh_make_key(const SlhSet &set, std::span<const uint8_t> seeds, std::span<uint8_t> key);
// Computes the node above one part of the tree, n bytes, of a draft's key from its seeds.
Status slh_part(const SlhSet &set, std::span<const uint8_t> seeds, uint32_t part,
                std::span<uint8_t> node);
// Computes the root of that tree, from PK.seed and the nodes above all parts in the kernels' byte
// order.
Status slh_root_of(const SlhSet &set, std::span<const uint8_t> pk_seed, const uint32_t *nodes,
                   std::span<uint8_t> root);

}  // namespace lanecrypt::cpu
