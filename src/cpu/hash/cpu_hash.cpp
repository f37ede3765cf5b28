// SPDX-License-Identifier: Apache-2.0
#include "cpu/hash/cpu_hash.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "cpu/hash/portable_hash.h"
#include "cpu/openssl_hash.h"
#include "job/round_up.h"
#include "kernels/hash/hash_layout.h"

namespace lanecrypt::cpu {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kValueBytes = 32;  // for BLAKE3 and Merkle trees
// The domain flags of BLAKE3's modes.
constexpr uint32_t kKeyed = 16, kContext = 32, kMaterial = 64;
constexpr uint8_t kMerkleLeaf[] = {0}, kMerkleNode[] = {1};

static_assert(kPartLeaves == HASH_SPAN, "a part is what a launch makes one value of");

std::span<const uint32_t, 8> key_of(const HashSpec &spec) {
  return std::span<const uint32_t, 8>(reinterpret_cast<const uint32_t *>(spec.key.data()), 8);
}

uint64_t leaf_length(const HashSpec &spec, uint64_t bytes, uint64_t leaf) {
  return std::min(spec.leaf_bytes, bytes - leaf * spec.leaf_bytes);
}

// Replaces each two neighbours with their parent. A value without a neighbour moves up unchanged.
Status join_level(const HashSpec &spec, OpensslHash *sha256, TreeValues *values) {
  const size_t count = values->size() / kValueBytes;
  uint8_t *const all = values->data();
  for (size_t n = 0; n < count / 2; ++n) {
    const std::span<const uint8_t, 64> both(all + 2 * n * kValueBytes, 2 * kValueBytes);
    const std::span<uint8_t, 32> to(all + n * kValueBytes, kValueBytes);
    if (sha256 == nullptr)
      blake3_node(key_of(spec), spec.flags, both, to);
    else
      LC_TRY(sha256->run({kMerkleNode, both}, to));
  }
  if (count % 2 != 0)
    std::memmove(all + count / 2 * kValueBytes, all + (count - 1) * kValueBytes, kValueBytes);
  values->resize((count + 1) / 2 * kValueBytes);
  return Status();
}

Status join(const HashSpec &spec, TreeValues *values, size_t until) {
  std::optional<OpensslHash> sha256;
  if (spec.method->family == HashFamily::kMerkle) sha256.emplace(spec.method->openssl_name);
  while (values->size() > until * kValueBytes)
    LC_TRY(join_level(spec, sha256 ? &*sha256 : nullptr, values));
  return Status();
}

// Computes ParallelHash from the values of the leaf blocks (SP 800-185, section 6.3).
Status parallel_root(const HashSpec &spec, Bytes values, uint64_t leaves,
                     std::span<uint8_t> digest) {
  ParallelSponge sponge(spec.method->block_bytes, spec.text);
  sponge.absorb_left_encoded(spec.leaf_bytes);
  sponge.absorb(values);
  sponge.absorb_right_encoded(leaves);
  sponge.absorb_right_encoded(spec.method->is_endless ? 0 : 8 * digest.size());
  sponge.squeeze(digest);
  return Status();
}

}  // namespace

Status prepare_hash(HashSpec *spec) {
  if (spec->method->family != HashFamily::kBlake3) return Status();
  if (spec->method->has_key) {
    spec->flags = kKeyed;
    return Status();
  }
  secure::KeyMemory key(kValueBytes);
  if (!key.ok(kValueBytes)) return Status(LC_ERROR_MEMORY, "no memory for the key");
  const std::span<uint32_t, 8> words(reinterpret_cast<uint32_t *>(key.data()), 8);
  blake3_initial(words);
  if (spec->method->has_text) {
    if (spec->text.size() > blake3_most_bytes())
      return Status(LC_ERROR_ARGUMENT, "the context is too long");
    uint8_t made[kValueBytes];
    blake3_hash(words, kContext, spec->text, made);
    std::memcpy(key.data(), made, sizeof made);
    secure::wipe(made, sizeof made);
    spec->flags = kMaterial;
  }
  spec->key = std::move(key);
  return Status();
}

uint64_t tree_parts(const HashSpec &spec, uint64_t bytes) {
  return divide_up(spec.leaves(bytes), kPartLeaves);
}

Status leaf_values(const HashSpec &spec, Bytes message, uint64_t first, std::span<uint8_t> values) {
  const size_t value_bytes = spec.method->value_bytes;
  std::optional<OpensslHash> openssl;
  if (spec.method->openssl_name != nullptr) openssl.emplace(spec.method->openssl_name);
  for (size_t n = 0; n * value_bytes < values.size(); ++n) {
    const uint64_t leaf = first + n;
    const Bytes text =
        message.subspan(leaf * spec.leaf_bytes, leaf_length(spec, message.size(), leaf));
    const std::span<uint8_t> value = values.subspan(n * value_bytes, value_bytes);
    switch (spec.method->family) {
      case HashFamily::kMerkle:
        LC_TRY(openssl->run({kMerkleLeaf, text}, value));
        break;
      case HashFamily::kParallel:
        LC_TRY(openssl->run({text}, value));
        break;
      default:
        blake3_leaf(key_of(spec), spec.flags, leaf, text,
                    std::span<uint8_t, kValueBytes>(value.data(), kValueBytes));
    }
  }
  return Status();
}

Status join_part(const HashSpec &spec, TreeValues *values) { return join(spec, values, 1); }

Status part_value(const HashSpec &spec, Bytes message, uint64_t part, TreeValues *value) {
  const uint64_t first = part * kPartLeaves;
  const uint64_t count = std::min(kPartLeaves, spec.leaves(message.size()) - first);
  value->resize(count * spec.method->value_bytes);
  LC_TRY(leaf_values(spec, message, first, *value));
  return spec.method->family == HashFamily::kParallel ? Status() : join_part(spec, value);
}

Status tree_root(const HashSpec &spec, TreeValues values, uint64_t leaves,
                 std::span<uint8_t> digest) {
  if (spec.method->family == HashFamily::kParallel)
    return parallel_root(spec, values, leaves, digest);
  const bool is_blake3 = spec.method->family == HashFamily::kBlake3;
  LC_TRY(join(spec, &values, is_blake3 ? 2 : 1));
  if (is_blake3)
    blake3_root(key_of(spec), spec.flags, std::span<const uint8_t, 64>(values.data(), 64), digest);
  else
    std::memcpy(digest.data(), values.data(), kValueBytes);
  return Status();
}

Status hash(const HashSpec &spec, Bytes message, std::span<uint8_t> digest) {
  if (!spec.is_tree()) return OpensslHash(spec.method->openssl_name).run({message}, digest);
  const bool is_blake3 = spec.method->family == HashFamily::kBlake3;
  if (is_blake3 && message.size() <= blake3_most_bytes()) {
    blake3_hash(key_of(spec), spec.flags, message, digest);
    return Status();
  }
  // RFC 9162, section 2.1.1: the hash of an empty tree is the hash of an empty string.
  if (spec.method->family == HashFamily::kMerkle && message.empty())
    return OpensslHash(spec.method->openssl_name).run({}, digest);
  TreeValues values, part;
  for (uint64_t n = 0; n < tree_parts(spec, message.size()); ++n) {
    LC_TRY(part_value(spec, message, n, &part));
    values.insert(values.end(), part.begin(), part.end());
  }
  return tree_root(spec, std::move(values), spec.leaves(message.size()), digest);
}

}  // namespace lanecrypt::cpu
