// Advances the IVs of counting modes by blocks. The time does not depend on the IV.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace lanecrypt {

using Iv = std::array<uint8_t, 16>;

// Adds to a number of kBytes bytes, which wraps. The last byte (big-endian) or the first
// (little-endian) is the least significant.
template <int kBytes>
void add_big_endian(uint8_t *number, uint64_t more) {
  unsigned carry = 0;
  for (int at = kBytes - 1; at >= 0; --at) {
    const unsigned sum = number[at] + static_cast<unsigned>(more & 0xff) + carry;
    number[at] = static_cast<uint8_t>(sum);
    carry = sum >> 8;
    more >>= 8;
  }
}
template <int kBytes>
void add_little_endian(uint8_t *number, uint64_t more) {
  unsigned carry = 0;
  for (int at = 0; at < kBytes; ++at) {
    const unsigned sum = number[at] + static_cast<unsigned>(more & 0xff) + carry;
    number[at] = static_cast<uint8_t>(sum);
    carry = sum >> 8;
    more >>= 8;
  }
}

// CTR: all 128 bits are one big-endian counter (SP 800-38A, section 6.5 and Appendix B.1).
inline void advance_counter(uint8_t iv[16], uint64_t blocks) { add_big_endian<16>(iv, blocks); }
inline Iv advance_counter(Iv iv, uint64_t blocks) {
  advance_counter(iv.data(), blocks);
  return iv;
}

// ChaCha20: the first 64 bits, little-endian, count blocks of 64 bytes, as in OpenSSL when the
// 32-bit counter wraps.
inline void advance_chacha20(uint8_t iv[16], uint64_t blocks) { add_little_endian<8>(iv, blocks); }
inline Iv advance_chacha20(Iv iv, uint64_t blocks) {
  advance_chacha20(iv.data(), blocks);
  return iv;
}

// XTS: the tweak is the number of a data unit, 128 bits, little-endian (SP 800-38E).
inline Iv advance_tweak(Iv iv, uint64_t units) {
  add_little_endian<16>(iv.data(), units);
  return iv;
}

// GCM: the last 32 bits are a big-endian counter that wraps (SP 800-38D, section 6.2).
inline void advance_gcm(uint8_t iv[16], uint64_t blocks) { add_big_endian<4>(iv + 12, blocks); }
// Returns how many blocks, from this one on, there are until the counter wraps.
inline uint64_t blocks_until_gcm_wraps(const uint8_t iv[16]) {
  const uint32_t counter =
      uint32_t{iv[12]} << 24 | uint32_t{iv[13]} << 16 | uint32_t{iv[14]} << 8 | iv[15];
  return uint64_t{UINT32_MAX} - counter + 1;
}

// ChaCha20-Poly1305: the first 32 bits, little-endian, count blocks of 64 bytes (RFC 8439, section
// 2.3).
inline void advance_chacha20_poly1305(uint8_t iv[16], uint64_t blocks) {
  add_little_endian<4>(iv, blocks);
}

}  // namespace lanecrypt
