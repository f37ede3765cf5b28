// SPDX-License-Identifier: Apache-2.0
#include "hash/hash_check.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "cpu/hash/cpu_hash.h"

namespace lanecrypt::runtime {
namespace {

// The longest message that is checked as a sample, so that the check takes little CPU time.
constexpr uint64_t kMostSampleBytes = 1 << 20;
constexpr int kThrows = 8;
// If a tree has more parts, the values of the parts are not joined again.
constexpr uint64_t kMostParts = 1 << 16;

Status wrong_digest(const HashJob &job) {
  return Status(LC_ERROR_DEVICE,
                "the device gave a wrong digest of " + std::string(job.spec.method->name));
}

std::span<const uint8_t> text_of(const HashJob &job, size_t message) {
  return {job.messages[message].in, job.messages[message].length};
}

bool is_same(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

std::vector<size_t> HashCheck::choose(const HashJob &job, std::span<const size_t> messages) {
  if (is_off() || messages.empty()) return {};
  if (verify_ == LC_VERIFY_FULL) return {messages.begin(), messages.end()};
  for (int n = 0; n < kThrows; ++n) {
    const size_t message = messages[sampler_.uniform_below(messages.size())];
    if (job.messages[message].length <= kMostSampleBytes) return {message};
  }
  return {};
}

Status HashCheck::check_message(const HashJob &job, size_t message,
                                std::span<const uint8_t> digest) const {
  secure::WipedBytes right(job.spec.digest_bytes);
  LC_TRY(cpu::hash(job.spec, text_of(job, message), right));
  return is_same(right, digest) ? Status() : wrong_digest(job);
}

std::optional<SampledPart> HashCheck::choose_part(const HashJob &job, size_t message) {
  if (verify_ != LC_VERIFY_SAMPLED) return std::nullopt;
  const uint64_t leaf = sampler_.uniform_below(job.spec.leaves(job.messages[message].length));
  return SampledPart{leaf / cpu::kPartLeaves, leaf};
}

Status HashCheck::check_tree(const HashJob &job, size_t message, const SampledPart &sample,
                             std::span<const uint8_t> part_values, std::span<const uint8_t> parts,
                             std::span<const uint8_t> digest) const {
  const HashSpec &spec = job.spec;
  const std::span<const uint8_t> text = text_of(job, message);
  const size_t bytes = spec.method->value_bytes;
  if (spec.leaf_bytes <= kMostSampleBytes) {
    cpu::TreeValues leaf(bytes);
    LC_TRY(cpu::leaf_values(spec, text, sample.leaf, leaf));
    if (!is_same(leaf, part_values.subspan((sample.leaf % cpu::kPartLeaves) * bytes, bytes)))
      return wrong_digest(job);
  }
  const uint64_t leaves = spec.leaves(text.size());
  secure::WipedBytes right(spec.digest_bytes);
  if (leaves <= cpu::kPartLeaves) {
    LC_TRY(cpu::tree_root(spec, {part_values.begin(), part_values.end()}, leaves, right));
    return is_same(right, digest) ? Status() : wrong_digest(job);
  }
  cpu::TreeValues joined(part_values.begin(), part_values.end());
  LC_TRY(cpu::join_part(spec, &joined));
  if (!is_same(joined, parts.subspan(sample.part * bytes, bytes))) return wrong_digest(job);
  if (parts.size() > kMostParts * bytes) return Status();
  LC_TRY(cpu::tree_root(spec, {parts.begin(), parts.end()}, leaves, right));
  return is_same(right, digest) ? Status() : wrong_digest(job);
}

Status HashCheck::check_leaf(const HashJob &job, size_t message, std::span<const uint8_t> values) {
  const HashSpec &spec = job.spec;
  if (is_off() || values.empty()) return Status();
  const size_t bytes = spec.method->value_bytes;
  const uint64_t all = values.size() / bytes;
  const bool is_full = verify_ == LC_VERIFY_FULL;
  if (!is_full && spec.leaf_bytes > kMostSampleBytes) return Status();
  const uint64_t first = is_full ? 0 : sampler_.uniform_below(all);
  cpu::TreeValues right((is_full ? all : 1) * bytes);
  LC_TRY(cpu::leaf_values(spec, text_of(job, message), first, right));
  return is_same(right, values.subspan(first * bytes, right.size())) ? Status() : wrong_digest(job);
}

}  // namespace lanecrypt::runtime
