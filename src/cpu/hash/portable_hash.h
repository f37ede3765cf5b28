// What OpenSSL has not, by the code of the kernels: BLAKE3, and the sponge around ParallelHash.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lanecrypt::cpu {

// The constants with which BLAKE3 begins where there is no key.
void blake3_initial(std::span<uint32_t, 8> key);
void blake3_hash(std::span<const uint32_t, 8> key, uint32_t flags, std::span<const uint8_t> message,
                 std::span<uint8_t> digest);
// The longest message of blake3_hash().
uint64_t blake3_most_bytes();
// The value of a chunk, at most 1024 bytes, which is not all of its message.
void blake3_leaf(std::span<const uint32_t, 8> key, uint32_t flags, uint64_t number,
                 std::span<const uint8_t> chunk, std::span<uint8_t, 32> value);
// The value of the parent of two; value may be one of them.
void blake3_node(std::span<const uint32_t, 8> key, uint32_t flags,
                 std::span<const uint8_t, 64> both, std::span<uint8_t, 32> value);
void blake3_root(std::span<const uint32_t, 8> key, uint32_t flags,
                 std::span<const uint8_t, 64> both, std::span<uint8_t> digest);

// cSHAKE (SP 800-185, section 3) with N = "ParallelHash": absorbs, and is squeezed once.
class ParallelSponge {
 public:
  ParallelSponge(uint32_t rate_bytes, std::span<const uint8_t> customization);
  void absorb(std::span<const uint8_t> bytes);
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
