// Hashes that OpenSSL does not have, by the code of the kernels: BLAKE3, and the outer sponge of
// ParallelHash.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lanecrypt::cpu {

// Writes the initial constants of BLAKE3 without a key.
void blake3_initial(std::span<uint32_t, 8> key);
// Hashes a complete message of at most blake3_most_bytes() bytes.
void blake3_hash(std::span<const uint32_t, 8> key, uint32_t flags, std::span<const uint8_t> message,
                 std::span<uint8_t> digest);
// The longest message of blake3_hash().
uint64_t blake3_most_bytes();
// Computes the value of a chunk of at most 1024 bytes, which is not the only one of its message.
void blake3_leaf(std::span<const uint32_t, 8> key, uint32_t flags, uint64_t number,
                 std::span<const uint8_t> chunk, std::span<uint8_t, 32> value);
// Computes the value of the parent of two values. `value` may be one of them.
void blake3_node(std::span<const uint32_t, 8> key, uint32_t flags,
                 std::span<const uint8_t, 64> both, std::span<uint8_t, 32> value);
// Computes the digest from the two children of the root.
void blake3_root(std::span<const uint32_t, 8> key, uint32_t flags,
                 std::span<const uint8_t, 64> both, std::span<uint8_t> digest);

// `ParallelSponge` is cSHAKE (SP 800-185, section 3) with N = "ParallelHash". It can be squeezed
// once.
class ParallelSponge {
 public:
  ParallelSponge(uint32_t rate_bytes, std::span<const uint8_t> customization);
  void absorb(std::span<const uint8_t> bytes);
  // Absorb left_encode(number) and right_encode(number) (SP 800-185, section 2.3.1).
  void absorb_left_encoded(uint64_t number);
  void absorb_right_encoded(uint64_t number);
  void squeeze(std::span<uint8_t> to);

 private:
  void absorb_string(std::span<const uint8_t> bytes);
  void permute();

  const uint32_t rate_bytes_;
  uint32_t at_ = 0;
  uint64_t state_[25] = {};
};

}  // namespace lanecrypt::cpu
