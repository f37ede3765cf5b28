// Hashes on the CPU: by OpenSSL, or by the code of the kernels if OpenSSL does not have the hash.
// All functions are thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "job/hash_job.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::cpu {

// Makes the key and the flags of BLAKE3 in `spec`. To be called once, before all else here.
Status prepare_hash(HashSpec *spec);

// Hashes one complete message.
Status hash(const HashSpec &spec, std::span<const uint8_t> message, std::span<uint8_t> digest);

// `TreeValues` is values of a tree's leaves or nodes. They are wiped, because anyone who has those
// of a keyed hash can compute the digest.
using TreeValues = secure::WipedBytes;

// The following compute a tree in steps, so that several threads can share the work. A part is
// kPartLeaves consecutive leaves, or the rest at the end.
inline constexpr uint64_t kPartLeaves = 512;
uint64_t tree_parts(const HashSpec &spec, uint64_t bytes);
// Computes the value of each leaf from number `first` on, value_bytes each.
Status leaf_values(const HashSpec &spec, std::span<const uint8_t> message, uint64_t first,
                   std::span<uint8_t> values);
// Computes what the root needs of a part: one value, or for ParallelHash the values of all its
// leaves.
Status part_value(const HashSpec &spec, std::span<const uint8_t> message, uint64_t part,
                  TreeValues *value);
// Reduces the values of a part's leaves to one. Not for ParallelHash.
Status join_part(const HashSpec &spec, TreeValues *values);
// Computes the digest. `values` is what the root needs of all parts, in order. `leaves` is the
// number of leaves of the message; for BLAKE3 it is more than one.
Status tree_root(const HashSpec &spec, TreeValues values, uint64_t leaves,
                 std::span<uint8_t> digest);

}  // namespace lanecrypt::cpu
