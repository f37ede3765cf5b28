// SPDX-License-Identifier: Apache-2.0
#include "cli/hash/hash_algorithm.h"

namespace lanecrypt::cli {
namespace {

constexpr HashAlgorithm fixed(const char *name, lc_hash hash, uint64_t digest_bytes) {
  return {name, hash, digest_bytes, false, false};
}

constexpr HashAlgorithm kAlgorithms[] = {
    fixed("sha224", LC_SHA_224, 28),
    fixed("sha256", LC_SHA_256, 32),
    fixed("sha384", LC_SHA_384, 48),
    fixed("sha512", LC_SHA_512, 64),
    fixed("sha3-224", LC_SHA3_224, 28),
    fixed("sha3-256", LC_SHA3_256, 32),
    fixed("sha3-384", LC_SHA3_384, 48),
    fixed("sha3-512", LC_SHA3_512, 64),
    {"shake128", LC_SHAKE_128, 32, true, false},
    {"shake256", LC_SHAKE_256, 64, true, false},
    {"blake3", LC_BLAKE3, 32, true, false},
    {"merkle-sha256", LC_MERKLE_SHA_256, 32, false, true},
    {"parallelhash128", LC_PARALLEL_HASH_128, 32, true, true},
    {"parallelhash256", LC_PARALLEL_HASH_256, 64, true, true},
    {"parallelhashxof128", LC_PARALLEL_HASH_XOF_128, 32, true, true},
    {"parallelhashxof256", LC_PARALLEL_HASH_XOF_256, 64, true, true},
};

}  // namespace

std::span<const HashAlgorithm> hash_algorithms() { return kAlgorithms; }

std::string tag_of(const HashAlgorithm &algorithm) {
  std::string tag = algorithm.name;
  for (char &letter : tag)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return tag;
}

}  // namespace lanecrypt::cli
