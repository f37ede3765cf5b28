// SPDX-License-Identifier: Apache-2.0
#include "cpu/slh/slh_message.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "cpu/digest.h"
#include "cpu/slh/slh_hash.h"
#include "kernels/hash/sha256.h"
#include "kernels/hash/sha512.h"

namespace lanecrypt::cpu {
namespace {

using Bytes = std::span<const uint8_t>;

SlhHashKey hash_key(const SlhSet &set, const SlhKeyParts &key) {
  return {set.shake, key.sk_prf, key.pk_seed, key.pk_root};
}

// The hash function that slh_hash.h calls.
struct Hash {
  mutable Status status;

  bool operator()(SlhHashKind kind, std::initializer_list<Bytes> parts,
                  std::span<uint8_t> to) const {
    constexpr Digest kDigests[] = {Digest::kSha256, Digest::kSha512, Digest::kShake256};
    status = digest(kDigests[size_t(kind)], parts, to);
    return status.ok();
  }
};

struct PreHash {
  Digest digest;
  size_t bytes;
};

const PreHash &pre_hash(lc_pre_hash which) {
  static constexpr PreHash kAll[] = {
      {Digest::kSha256, 32},   {Digest::kSha384, 48},     {Digest::kSha512, 64},
      {Digest::kSha224, 28},   {Digest::kSha512_224, 28}, {Digest::kSha512_256, 32},
      {Digest::kSha3_224, 28}, {Digest::kSha3_256, 32},   {Digest::kSha3_384, 48},
      {Digest::kSha3_512, 64}, {Digest::kShake128, 32},   {Digest::kShake256, 64}};
  return kAll[which - LC_PRE_HASH_SHA2_256];
}

uint64_t number_of(Bytes bytes) {
  uint64_t number = 0;
  for (const uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

void to_words(const SlhSet &set, Bytes bytes, uint32_t *words) {
  if (bytes.empty()) return;
  std::memcpy(words, bytes.data(), set.n);
  if (!set.shake)
    for (uint32_t i = 0; i < set.n / 4; ++i) words[i] = __builtin_bswap32(words[i]);
}

// Computes the states of SHA-256 and SHA-512 after PK.seed, padded to a block (FIPS 205, section
// 11.2).
void put_states(const SlhSet &set, const uint32_t *pk_seed, SlhItem &item) {
  uint32_t block[16] = {};
  uint64_t wide_block[16] = {};
  for (uint32_t i = 0; i < set.n / 4; ++i) {
    block[i] = pk_seed[i];
    wide_block[i / 2] |= uint64_t{pk_seed[i]} << (i % 2 == 0 ? 32 : 0);
  }
  sha256_start(item.narrow_state);
  sha256_compress(item.narrow_state, block);
  if (set.n == 16) return;
  u64 state[8];
  u64 words[16];
  std::copy(wide_block, wide_block + 16, words);
  sha512_start(state);
  sha512_compress(state, words);
  std::copy(state, state + 8, item.wide_state);
}

}  // namespace

Status slh_randomizer(const SlhSet &set, const SlhKeyParts &key, Bytes opt_rand,
                      const SlhEncoded &message, std::span<uint8_t> r) {
  if (opt_rand.empty()) opt_rand = key.pk_seed;
  Hash hash;
  (void)slh_hash_randomizer(hash_key(set, key), opt_rand, {message.head, message.rest}, r, hash);
  return hash.status;
}

Status slh_digest(const SlhSet &set, const SlhKeyParts &key, Bytes r, const SlhEncoded &message,
                  std::span<uint8_t> digest) {
  Hash hash;
  (void)slh_hash_message(hash_key(set, key), r, {message.head, message.rest}, digest, hash);
  return hash.status;
}

void slh_put_key(const SlhSet &set, const SlhKeyParts &key, SlhItem &item) {
  to_words(set, key.pk_seed, item.pk_seed);
  to_words(set, key.pk_root, item.pk_root);
  to_words(set, key.sk_seed, item.sk_seed);
  if (!set.shake) put_states(set, item.pk_seed, item);
}

void slh_put_digest(const SlhSet &set, Bytes digest, SlhItem &item) {
  const Bytes tree = digest.subspan(set.fors_bytes(), set.tree_bytes());
  const uint32_t tree_bits = set.height - set.tree_height;
  item.tree = number_of(tree);
  if (tree_bits < 64) item.tree &= (uint64_t{1} << tree_bits) - 1;
  item.leaf = uint32_t(number_of(digest.last(set.leaf_bytes()))) & ((1u << set.tree_height) - 1);
  for (uint32_t k = 0, bit = 0; k < set.fors_trees; ++k) {
    uint32_t index = 0;
    for (uint32_t i = 0; i < set.fors_height; ++i, ++bit)
      index = index << 1 | (digest[bit / 8] >> (7 - bit % 8) & 1u);
    item.fors[k] = index;
  }
}

void slh_bytes(const SlhSet &set, const uint32_t *words, uint8_t *to) {
  for (uint32_t i = 0; i < set.n / 4; ++i) {
    const uint32_t word = set.shake ? words[i] : __builtin_bswap32(words[i]);
    std::memcpy(to + 4 * i, &word, sizeof word);
  }
}

Result<SlhEncoded> slh_encode(const SlhJob &job, const SlhMessage &message) {
  SlhEncoded encoded;
  if (job.encoding == LC_MESSAGE_RAW) {
    encoded.rest = message.message;
    return encoded;
  }
  const bool is_hashed = job.encoding == LC_MESSAGE_PRE_HASH;
  encoded.head = {uint8_t(is_hashed ? 1 : 0), uint8_t(message.context.size())};
  encoded.head.insert(encoded.head.end(), message.context.begin(), message.context.end());
  if (!is_hashed) {
    encoded.rest = message.message;
    return encoded;
  }
  // The hash's object identifier in DER, without its last byte.
  constexpr uint8_t kName[] = {0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02};
  encoded.head.insert(encoded.head.end(), std::begin(kName), std::end(kName));
  encoded.head.push_back(uint8_t(job.hash));
  const PreHash &hash = pre_hash(job.hash);
  encoded.head.resize(encoded.head.size() + hash.bytes);
  LC_TRY(digest(hash.digest, {message.message}, std::span(encoded.head).last(hash.bytes)));
  return encoded;
}

}  // namespace lanecrypt::cpu
