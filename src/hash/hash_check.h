// Checks a device's digests of messages in host memory before the caller gets them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "job/hash_job.h"
#include "verify/random_sampler.h"

namespace lanecrypt::runtime {

// `SampledPart` is a part of a message's tree whose values are checked.
struct SampledPart {
  uint64_t part, leaf;  // `leaf` is the number, in the message, of the leaf that is computed again
};

// `HashCheck` chooses samples and checks them on the CPU. Not thread-safe.
class HashCheck {
 public:
  explicit HashCheck(lc_verify verify) : verify_(verify) {}

  bool is_off() const { return verify_ == LC_VERIFY_OFF; }
  // Returns which of `messages`, those of the job that are not trees, are to be computed again.
  std::vector<size_t> choose(const HashJob &job, std::span<const size_t> messages);
  // Returns LC_ERROR_DEVICE if `digest` is not that of the message.
  Status check_message(const HashJob &job, size_t message, std::span<const uint8_t> digest) const;

  // Returns which part and leaf of a message's tree to check, or nothing if no part is sampled
  // because the whole message is computed again or checks are off.
  std::optional<SampledPart> choose_part(const HashJob &job, size_t message);
  // Checks a tree. `part_values` are the values of the leaves of the sampled part, `parts` the
  // values of all parts. They lead from the leaf to the digest, and each step is computed again.
  Status check_tree(const HashJob &job, size_t message, const SampledPart &sample,
                    std::span<const uint8_t> part_values, std::span<const uint8_t> parts,
                    std::span<const uint8_t> digest) const;
  // Checks the leaf values of ParallelHash, from all of which the CPU makes the digest.
  Status check_leaf(const HashJob &job, size_t message, std::span<const uint8_t> values);

 private:
  const lc_verify verify_;
  verify::RandomSampler sampler_;
};

}  // namespace lanecrypt::runtime
