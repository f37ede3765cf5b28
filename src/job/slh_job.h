// SLH-DSA jobs as plain data: keys, and the library's own, checked form of lc_slh_dsa_job and
// lc_slh_dsa_generation.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "job/key_attachment.h"
#include "job/random_source.h"
#include "job/signed_roots.h"
#include "job/slh_set.h"
#include "job/status.h"
#include "secure/key_memory.h"

namespace lanecrypt {

// `SlhKeyParts` is the parts of a key, n bytes each. Some are empty for verification and key
// generation.
struct SlhKeyParts {
  std::span<const uint8_t> sk_seed, sk_prf, pk_seed, pk_root;
};

// `SlhKey` is a copy of the caller's key, in memory that a child of fork() keeps, because a server
// reads its keys before it forks its workers.
struct SlhKey {
  // `of` is SK.seed, SK.prf, PK.seed and PK.root concatenated, or the last two.
  SlhKey(const SlhSet &set, std::span<const uint8_t> of, RandomSource random);

  const SlhSet &set;
  const bool is_private;
  const RandomSource random;
  SlhKeyParts parts;
  mutable SignedRoots signed_roots;

  secure::KeyMemory memory;  // of the parts
  // For a draft's set: the kept nodes of its tree, as the caller gave them, and after
  // cpu::prepare() in the kernels' byte order. Otherwise empty.
  std::vector<uint32_t> tree;
  // The kernels' input for the key: an SlhItem, set by cpu::prepare().
  secure::KeyMemory image;
  mutable KeyAttachments attachments;
};

using SlhKeyPointer = std::shared_ptr<const SlhKey>;

// `SlhMessage` is a message to sign, or one with its signature.
struct SlhMessage {
  uint32_t key = 0;  // index in SlhJob::keys
  std::span<const uint8_t> message, context;
  const uint8_t *additional_random = nullptr;
  uint8_t *signature = nullptr;
  // For a signature to verify: false if its length makes it invalid.
  bool has_right_length = true;
};

struct SlhJob {
  lc_slh_dsa_operation operation = LC_SLH_DSA_SIGN;
  lc_message_encoding encoding = LC_MESSAGE_PURE;
  lc_pre_hash hash = LC_PRE_HASH_NONE;
  bool is_deterministic = false;
  uint32_t device = LC_ANY_DEVICE;  // or LC_CPU
  std::vector<SlhKeyPointer> keys;
  std::vector<SlhMessage> messages;
  uint8_t *verdicts = nullptr;

  const SlhKey &key_of(const SlhMessage &message) const { return *keys[message.key]; }
};

struct SlhGeneration {
  const SlhSet *set = nullptr;
  uint32_t device = LC_ANY_DEVICE;
  size_t count = 0;
  const uint8_t *seeds = nullptr;  // nullptr: the seeds are drawn
  uint8_t *keys = nullptr;
  uint8_t *trees = nullptr;  // or nullptr
  RandomSource random;
};

// Copies a key and checks its lengths.
Result<std::shared_ptr<SlhKey>> copy_slh_key(const lc_slh_dsa_parts *parts);

// Checks a job of the ABI. `key_of` converts an lc_slh_dsa_key. Zeroes the verdicts.
using SlhKeyOf = const SlhKeyPointer &(*)(const lc_slh_dsa_key *);
Result<SlhJob> make_slh_job(const lc_slh_dsa_job *job, SlhKeyOf key_of);
Result<SlhGeneration> make_slh_generation(const lc_slh_dsa_generation *generation);

}  // namespace lanecrypt
