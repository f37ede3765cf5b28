// SPDX-License-Identifier: Apache-2.0
#include "cpu/slh/slh_message.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "cpu/digest.h"
#include "kernels/hash/sha256.h"
#include "kernels/hash/sha512.h"
#include "secure/key_memory.h"

namespace lanecrypt::cpu {
namespace {

using Bytes = std::span<const uint8_t>;

Digest digest_of(const SlhSet &set) {
  if (set.shake) return Digest::kShake256;
  return set.n == 16 ? Digest::kSha256 : Digest::kSha512;
}

Status hash(const SlhSet &set, std::initializer_list<Bytes> parts, std::span<uint8_t> to) {
  return digest(digest_of(set), parts, to);
}

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

// The state of both hashes after PK.seed, padded to a block.
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
  if (set.shake) return hash(set, {key.sk_prf, opt_rand, message.head, message.rest}, r);
  // HMAC (FIPS 198-1) of a key that is shorter than a block.
  const size_t block = set.n == 16 ? 64 : 128, size = set.n == 16 ? 32 : 64;
  uint8_t inner[128], outer[128], digest[64];
  for (size_t i = 0; i < block; ++i) {
    const uint8_t byte = i < key.sk_prf.size() ? key.sk_prf[i] : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  Status status =
      hash(set, {Bytes(inner, block), opt_rand, message.head, message.rest}, {digest, size});
  if (status.ok()) status = hash(set, {Bytes(outer, block), Bytes(digest, size)}, {digest, size});
  if (status.ok()) std::memcpy(r.data(), digest, set.n);
  secure::wipe(inner, sizeof inner);
  secure::wipe(outer, sizeof outer);
  secure::wipe(digest, sizeof digest);
  return status;
}

Status slh_digest(const SlhSet &set, const SlhKeyParts &key, Bytes r, const SlhEncoded &message,
                  std::span<uint8_t> digest) {
  if (set.shake)
    return hash(set, {r, key.pk_seed, key.pk_root, message.head, message.rest}, digest);
  const size_t size = set.n == 16 ? 32 : 64;
  uint8_t inner[64], part[64];
  LC_TRY(hash(set, {r, key.pk_seed, key.pk_root, message.head, message.rest}, {inner, size}));
  // MGF1 (RFC 8017, appendix B.2.1).
  uint8_t counter[4] = {};
  for (size_t at = 0; at < digest.size(); at += size, ++counter[3]) {
    LC_TRY(hash(set, {r, key.pk_seed, Bytes(inner, size), Bytes(counter)}, {part, size}));
    std::memcpy(&digest[at], part, std::min(size, digest.size() - at));
  }
  return Status();
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
  // The hash's object identifier in DER, without its last number.
  constexpr uint8_t kName[] = {0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02};
  encoded.head.insert(encoded.head.end(), std::begin(kName), std::end(kName));
  encoded.head.push_back(uint8_t(job.hash));
  const PreHash &hash = pre_hash(job.hash);
  encoded.head.resize(encoded.head.size() + hash.bytes);
  LC_TRY(digest(hash.digest, {message.message}, std::span(encoded.head).last(hash.bytes)));
  return encoded;
}

}  // namespace lanecrypt::cpu
