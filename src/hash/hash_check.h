// How a device's digests of messages in host memory are checked, before anyone gets them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "job/hash_job.h"
#include "verify/random_sampler.h"

namespace lanecrypt::runtime {

// A part of a message's tree whose values are looked at.
struct SampledPart {
  uint64_t part, leaf;  // the leaf that is computed again, by its number in the message
};

// One thread.
class HashCheck {
 public:
  explicit HashCheck(lc_verify verify) : verify_(verify) {}

  bool is_off() const { return verify_ == LC_VERIFY_OFF; }
  // Of a job's messages that are not trees, those to compute again.
  std::vector<size_t> choose(const HashJob &job, std::span<const size_t> messages);
  // LC_ERROR_DEVICE where the digest is not that of the message.
  Status check_message(const HashJob &job, size_t message, std::span<const uint8_t> digest) const;

  // Of a tree: which part and leaf. Nothing where all of the message is computed again.
  std::optional<SampledPart> choose_part(const HashJob &job, size_t message);
  // part_values: of the leaves of that part; parts: what was made of each part. They lead from
  // the leaf to the digest, and each step is made again.
  Status check_tree(const HashJob &job, size_t message, const SampledPart &sample,
                    std::span<const uint8_t> part_values, std::span<const uint8_t> parts,
                    std::span<const uint8_t> digest) const;
  // Of ParallelHash, whose digest the CPU makes of all values.
  Status check_leaf(const HashJob &job, size_t message, std::span<const uint8_t> values);

 private:
  const lc_verify verify_;
  verify::RandomSampler sampler_;
};

}  // namespace lanecrypt::runtime
