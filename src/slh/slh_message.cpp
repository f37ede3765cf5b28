// SPDX-License-Identifier: Apache-2.0
#include "slh/slh_message.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "cpu/digest.h"
#include "kernels/hash/sha256.h"
#include "kernels/hash/sha512.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

using Bytes = std::span<const uint8_t>;

cpu::Digest digest_of(const SlhSet &set) {
  if (set.shake) return cpu::Digest::kShake256;
  return set.n == 16 ? cpu::Digest::kSha256 : cpu::Digest::kSha512;
}

Status hash(const SlhSet &set, std::initializer_list<Bytes> parts, std::span<uint8_t> to) {
  return cpu::digest(digest_of(set), parts, to);
}

uint64_t number_of(Bytes bytes) {
  uint64_t number = 0;
  for (const uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

void to_words(const SlhSet &set, Bytes bytes, uint32_t *words) {
  if (bytes.size() < set.n) return;
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

Status slh_randomizer(const SlhSet &set, const SlhKeyParts &key, Bytes opt_rand, Bytes message,
                      std::span<uint8_t> r) {
  if (opt_rand.empty()) opt_rand = key.pk_seed;
  if (set.shake) return hash(set, {key.sk_prf, opt_rand, message}, r);
  // HMAC (FIPS 198-1) of a key that is shorter than a block.
  const size_t block = set.n == 16 ? 64 : 128, size = set.n == 16 ? 32 : 64;
  uint8_t inner[128], outer[128], digest[64];
  for (size_t i = 0; i < block; ++i) {
    const uint8_t byte = i < key.sk_prf.size() ? key.sk_prf[i] : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  Status status = hash(set, {Bytes(inner, block), opt_rand, message}, {digest, size});
  if (status.ok()) status = hash(set, {Bytes(outer, block), Bytes(digest, size)}, {digest, size});
  if (status.ok()) std::memcpy(r.data(), digest, set.n);
  secure::wipe(inner, sizeof inner);
  secure::wipe(outer, sizeof outer);
  secure::wipe(digest, sizeof digest);
  return status;
}

Status slh_digest(const SlhSet &set, const SlhKeyParts &key, Bytes r, Bytes message,
                  std::span<uint8_t> digest) {
  if (set.shake) return hash(set, {r, key.pk_seed, key.pk_root, message}, digest);
  const size_t size = set.n == 16 ? 32 : 64;
  uint8_t inner[64], part[64];
  LC_TRY(hash(set, {r, key.pk_seed, key.pk_root, message}, {inner, size}));
  // MGF1 (RFC 8017, appendix B.2.1).
  uint8_t counter[4] = {};
  for (size_t at = 0; at < digest.size(); at += size, ++counter[3]) {
    LC_TRY(hash(set, {r, key.pk_seed, Bytes(inner, size), Bytes(counter)}, {part, size}));
    std::memcpy(&digest[at], part, std::min(size, digest.size() - at));
  }
  return Status();
}

SlhItem slh_item(const SlhSet &set, const SlhKeyParts &key, Bytes digest) {
  SlhItem item = {};
  to_words(set, key.pk_seed, item.pk_seed);
  to_words(set, key.pk_root, item.pk_root);
  to_words(set, key.sk_seed, item.sk_seed);
  if (!set.shake) put_states(set, item.pk_seed, item);
  if (digest.empty()) return item;
  const Bytes tree = digest.subspan(set.fors_bytes(), set.tree_bytes());
  const uint32_t tree_bits = set.height - set.tree_height;
  item.tree = number_of(tree);
  if (tree_bits < 64) item.tree &= (uint64_t{1} << tree_bits) - 1;
  item.leaf = uint32_t(number_of(digest.last(set.leaf_bytes()))) & ((1u << set.tree_height) - 1);
  for (uint32_t k = 0, bit = 0; k < set.fors_trees; ++k)
    for (uint32_t i = 0; i < set.fors_height; ++i, ++bit)
      item.fors[k] = item.fors[k] << 1 | (digest[bit / 8] >> (7 - bit % 8) & 1u);
  return item;
}

void slh_bytes(const SlhSet &set, const uint32_t *words, uint8_t *to) {
  for (uint32_t i = 0; i < set.n / 4; ++i) {
    const uint32_t word = set.shake ? words[i] : __builtin_bswap32(words[i]);
    std::memcpy(to + 4 * i, &word, sizeof word);
  }
}

std::vector<uint8_t> slh_pure_message(Bytes context, Bytes message) {
  std::vector<uint8_t> whole = {0, uint8_t(context.size())};
  whole.insert(whole.end(), context.begin(), context.end());
  whole.insert(whole.end(), message.begin(), message.end());
  return whole;
}

}  // namespace lanecrypt::runtime
