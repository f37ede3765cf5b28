// The library's own, checked form of lc_hash_job.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/hash_method.h"
#include "job/status.h"
#include "secure/key_memory.h"

namespace lanecrypt {

// `HashSpec` is what is computed from each message.
struct HashSpec {
  const HashMethod *method = nullptr;
  uint64_t digest_bytes = 0;
  uint64_t leaf_bytes = 0;  // of a tree
  // BLAKE3: the 32 bytes of the key or initial value, and the flags of all compressions. Set by
  // cpu::prepare_hash().
  secure::KeyMemory key;
  uint32_t flags = 0;
  std::vector<uint8_t> text;  // BLAKE3: the context; ParallelHash: the customization string

  bool is_tree() const { return method->value_bytes != 0; }
  // Returns whether messages are keys from which other keys are derived.
  bool hashes_keys() const { return method->family == HashFamily::kBlake3 && method->has_text; }
  // Returns the number of leaves of a message. A Merkle tree and BLAKE3 have at least one.
  uint64_t leaves(uint64_t bytes) const {
    const uint64_t all = bytes / leaf_bytes + (bytes % leaf_bytes != 0 ? 1 : 0);
    return all == 0 && method->family != HashFamily::kParallel ? 1 : all;
  }
};

struct HashMessage {
  const uint8_t *in;
  uint64_t length;
  uint8_t *digest;
};

struct HashJob {
  HashSpec spec;
  lc_memory memory = LC_MEMORY_HOST, digest_memory = LC_MEMORY_HOST;
  uint32_t device = LC_ANY_DEVICE;  // or LC_CPU
  void *stream = nullptr;
  std::vector<HashMessage> messages;
  uint64_t bytes = 0, longest = 0;
};

// Checks a job of the ABI, and copies its list of messages, its key and its text.
Result<HashJob> make_hash_job(const lc_hash_job *job);

}  // namespace lanecrypt
