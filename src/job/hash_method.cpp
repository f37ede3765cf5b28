// SPDX-License-Identifier: Apache-2.0
#include "job/hash_method.h"

#include <iterator>

#include "job/enum_number.h"

namespace lanecrypt {
namespace {

constexpr uint32_t kSha3Pad = 0x06, kShakePad = 0x1f;

constexpr HashMethod sha2(std::string_view name, const char *openssl_name, uint32_t digest_bytes) {
  const bool is_small = digest_bytes <= 32;
  return {.name = name,
          .openssl_name = openssl_name,
          .family = is_small ? HashFamily::kSha256 : HashFamily::kSha512,
          .digest_bytes = digest_bytes,
          .any_digest_bytes = false,
          .block_bytes = is_small ? 64u : 128u,
          .pad = 0,
          .value_bytes = 0,
          .has_key = false,
          .has_text = false,
          .is_endless = false};
}

// The rate is the state minus a capacity of twice the strength (FIPS 202, section 6).
constexpr HashMethod keccak(std::string_view name, const char *openssl_name, uint32_t digest_bytes,
                            uint32_t strength_bytes, uint32_t pad) {
  return {.name = name,
          .openssl_name = openssl_name,
          .family = HashFamily::kKeccak,
          .digest_bytes = digest_bytes,
          .any_digest_bytes = pad == kShakePad,
          .block_bytes = 200 - 2 * strength_bytes,
          .pad = pad,
          .value_bytes = 0,
          .has_key = false,
          .has_text = false,
          .is_endless = false};
}

constexpr HashMethod blake3(std::string_view name, bool has_key, bool has_text) {
  return {.name = name,
          .openssl_name = nullptr,
          .family = HashFamily::kBlake3,
          .digest_bytes = 32,
          .any_digest_bytes = true,
          .block_bytes = 64,
          .pad = 0,
          .value_bytes = 32,
          .has_key = has_key,
          .has_text = has_text,
          .is_endless = false};
}

constexpr HashMethod parallel(std::string_view name, const char *openssl_name,
                              uint32_t strength_bytes, bool is_endless) {
  HashMethod method = keccak(name, openssl_name, 2 * strength_bytes, strength_bytes, kShakePad);
  method.family = HashFamily::kParallel;
  method.value_bytes = 2 * strength_bytes;
  method.has_text = true;
  method.is_endless = is_endless;
  return method;
}

constexpr HashMethod merkle() {
  HashMethod method = sha2("Merkle tree of SHA-256", "SHA2-256", 32);
  method.family = HashFamily::kMerkle;
  method.value_bytes = 32;
  return method;
}

// In the order of lc_hash.
constexpr HashMethod kMethods[] = {
    sha2("SHA-224", "SHA2-224", 28),
    sha2("SHA-256", "SHA2-256", 32),
    sha2("SHA-384", "SHA2-384", 48),
    sha2("SHA-512", "SHA2-512", 64),
    keccak("SHA3-224", "SHA3-224", 28, 28, kSha3Pad),
    keccak("SHA3-256", "SHA3-256", 32, 32, kSha3Pad),
    keccak("SHA3-384", "SHA3-384", 48, 48, kSha3Pad),
    keccak("SHA3-512", "SHA3-512", 64, 64, kSha3Pad),
    keccak("SHAKE128", "SHAKE128", 32, 16, kShakePad),
    keccak("SHAKE256", "SHAKE256", 64, 32, kShakePad),
    blake3("BLAKE3", false, false),
    blake3("keyed BLAKE3", true, false),
    blake3("BLAKE3 to derive keys", false, true),
    merkle(),
    parallel("ParallelHash128", "SHAKE128", 16, false),
    parallel("ParallelHash256", "SHAKE256", 32, false),
    parallel("ParallelHashXOF128", "SHAKE128", 16, true),
    parallel("ParallelHashXOF256", "SHAKE256", 32, true),
};

}  // namespace

const HashMethod *find_hash_method(const lc_hash &hash) {
  const uint32_t number = enum_number(hash);
  return number < std::size(kMethods) ? &kMethods[number] : nullptr;
}

}  // namespace lanecrypt
