// SLH-DSA on the CPU. It takes over when a device cannot do its work, and a device's answers
// are checked against it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "job/slh_job.h"
#include "job/status.h"
#include "kernels/slh/slh_layout.h"

namespace lanecrypt::cpu {

// Makes the kernels' form of a key, in key.image, and of its tree, of which it looks whether it is
// the key's: LC_ERROR_ARGUMENT if not.
Status prepare(SlhKey &key);

// The message of an operation, hashed.
struct SlhHashed {
  uint8_t digest[kMostSlhDigestBytes];
  uint8_t r[32];
};
// To verify, R comes from the signature. opt_rand: as in slh_message.h.
Status hash_to_verify(const SlhJob &job, const SlhMessage &message, SlhHashed &hashed);
Status hash_to_sign(const SlhJob &job, const SlhMessage &message, std::span<const uint8_t> opt_rand,
                    SlhHashed &hashed);
// What the kernels are given of it.
void put_item(const SlhKey &key, const SlhHashed &hashed, SlhItem &item);

// Whether the roots that a signature leads to, n bytes of each layer, the lowest first, are what
// the key has signed before, if it has. Then they are kept (signed_roots.h).
bool do_roots_agree(const SlhKey &key, const SlhHashed &hashed, std::span<const uint8_t> roots);

// Only of the sets of FIPS 205, as slh_make_key(): the draft's would take a core minutes, and end
// with LC_ERROR_UNSUPPORTED. Makes a signature, verifies it, and asks the key for what it has
// signed before; nothing is written before. LC_ERROR_DEVICE if the key has signed something else.
Status slh_sign(const SlhKey &key, const SlhHashed &hashed, std::span<uint8_t> signature);
Status slh_verify(const SlhKey &key, const SlhHashed &hashed, std::span<const uint8_t> signature,
                  bool &valid);
// Makes a private key of its seeds.
Status slh_make_key(const SlhSet &set, std::span<const uint8_t> seeds, std::span<uint8_t> key);
// Of a key of a draft's set, from its seeds, the node above one part of its tree, n bytes.
Status slh_part(const SlhSet &set, std::span<const uint8_t> seeds, uint32_t part,
                std::span<uint8_t> node);
// And the root of the tree, from PK.seed and the nodes above all parts in the kernels' form.
Status slh_root_of(const SlhSet &set, std::span<const uint8_t> pk_seed, const uint32_t *nodes,
                   std::span<uint8_t> root);

}  // namespace lanecrypt::cpu
