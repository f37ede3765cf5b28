// Hashes by the CPU: by OpenSSL, or, where it has none, by the code of the kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "job/hash_job.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::cpu {

// Makes the key and the flags of BLAKE3. Once, before anything else here.
Status prepare_hash(HashSpec *spec);

// All of one message. Any thread, as all here.
Status hash(const HashSpec &spec, std::span<const uint8_t> message, std::span<uint8_t> digest);

// Values of a tree. Who has those that were made with a key has the digest too.
using TreeValues = secure::WipedBytes;

// A tree in steps, so that several may share them. A part is kPartLeaves leaves that follow one
// another, or what is left of them at the end.
inline constexpr uint64_t kPartLeaves = 512;
uint64_t tree_parts(const HashSpec &spec, uint64_t bytes);
// The value of each leaf from `first` on, value_bytes each.
Status leaf_values(const HashSpec &spec, std::span<const uint8_t> message, uint64_t first,
                   std::span<uint8_t> values);
// What the root needs of a part: one value, or of ParallelHash those of all its leaves.
Status part_value(const HashSpec &spec, std::span<const uint8_t> message, uint64_t part,
                  TreeValues *value);
// Makes one value of those of the leaves of a part. Not for ParallelHash.
Status join_part(const HashSpec &spec, TreeValues *values);
// `values`: what the root needs of all parts, in order. `leaves`: of the whole message, for BLAKE3
// more than one.
Status tree_root(const HashSpec &spec, TreeValues values, uint64_t leaves,
                 std::span<uint8_t> digest);

}  // namespace lanecrypt::cpu
