// Hashes the messages of SLH-DSA (FIPS 205, sections 11.1 and 11.2) with a hash function that the
// caller provides, because the provider and the library call OpenSSL in different ways.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "secure/key_memory.h"

namespace lanecrypt::cpu {

enum class SlhHashKind { kSha256, kSha512, kShake256 };

// n bytes each.
struct SlhHashKey {
  bool is_shake = false;
  std::span<const uint8_t> sk_prf, pk_seed, pk_root;

  size_t n() const { return pk_seed.size(); }
  SlhHashKind kind() const {
    if (is_shake) return SlhHashKind::kShake256;
    return n() == 16 ? SlhHashKind::kSha256 : SlhHashKind::kSha512;
  }
};

// M', in two parts that are hashed as if concatenated.
struct SlhHashMessage {
  std::span<const uint8_t> head, rest;
};

// In both functions, hash(kind, {part, ...}, to) hashes the concatenated parts and fills `to`. If
// it returns false, the function returns false too.
//
// PRF_msg: computes R. `opt_rand` has n bytes; it is PK.seed for a deterministic signature.

// PRF_msg: R. opt_rand: n bytes, PK.seed for a deterministic signature.
template <class Hash>
bool slh_hash_randomizer(const SlhHashKey &key, std::span<const uint8_t> opt_rand,
                         const SlhHashMessage &message, std::span<uint8_t> r, const Hash &hash) {
  using Bytes = std::span<const uint8_t>;
  const SlhHashKind kind = key.kind();
  if (key.is_shake) return hash(kind, {key.sk_prf, opt_rand, message.head, message.rest}, r);
  // HMAC (FIPS 198-1) with a key that is shorter than a block.
  const size_t size = kind == SlhHashKind::kSha256 ? 32 : 64, block = 2 * size;
  uint8_t inner[128], outer[128], digest[64];
  for (size_t i = 0; i < block; ++i) {
    const uint8_t byte = i < key.sk_prf.size() ? key.sk_prf[i] : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  const std::span<uint8_t> made(digest, size);
  const bool done = hash(kind, {Bytes(inner, block), opt_rand, message.head, message.rest}, made) &&
                    hash(kind, {Bytes(outer, block), made}, made);
  if (done) std::memcpy(r.data(), digest, r.size());
  secure::wipe(inner, sizeof inner);
  secure::wipe(outer, sizeof outer);
  secure::wipe(digest, sizeof digest);
  return done;
}

// H_msg: fills `digest`.
template <class Hash>
bool slh_hash_message(const SlhHashKey &key, std::span<const uint8_t> r,
                      const SlhHashMessage &message, std::span<uint8_t> digest, const Hash &hash) {
  using Bytes = std::span<const uint8_t>;
  const SlhHashKind kind = key.kind();
  if (key.is_shake)
    return hash(kind, {r, key.pk_seed, key.pk_root, message.head, message.rest}, digest);
  const size_t size = kind == SlhHashKind::kSha256 ? 32 : 64;
  uint8_t inner[64], part[64];
  if (!hash(kind, {r, key.pk_seed, key.pk_root, message.head, message.rest},
            std::span<uint8_t>(inner, size)))
    return false;
  // MGF1 (RFC 8017, appendix B.2.1).
  uint8_t counter[4] = {};
  for (size_t at = 0; at < digest.size(); at += size, ++counter[3]) {
    if (!hash(kind, {r, key.pk_seed, Bytes(inner, size), Bytes(counter)},
              std::span<uint8_t>(part, size)))
      return false;
    std::memcpy(&digest[at], part, std::min(size, digest.size() - at));
  }
  return true;
}

}  // namespace lanecrypt::cpu
