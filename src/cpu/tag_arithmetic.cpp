// SPDX-License-Identifier: Apache-2.0
#include "cpu/tag_arithmetic.h"

namespace lanecrypt::cpu {

Block lengths_block(Mode mode, uint64_t aad_bytes, uint64_t text_bytes) {
  const bool is_gcm = mode == Mode::kGcm;
  uint8_t bytes[16];
  for (int n = 0; n < 8; ++n) {
    const int shift = is_gcm ? 56 - 8 * n : 8 * n;
    bytes[n] = static_cast<uint8_t>((is_gcm ? 8 * aad_bytes : aad_bytes) >> shift);
    bytes[8 + n] = static_cast<uint8_t>((is_gcm ? 8 * text_bytes : text_bytes) >> shift);
  }
  return load_block(bytes);
}

Gf128 ghash(const Gf128 &h, Gf128 sum, const uint8_t *from, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += sizeof(Block))
    sum = gf128_multiply(gf128_add(sum, gf128_of_block(load_block(from + at, bytes - at))), h);
  return sum;
}

void gcm_start(const Gf128 &h, const uint8_t *iv, uint64_t iv_bytes, uint8_t start[16]) {
  if (iv_bytes == 12) {
    std::memcpy(start, iv, 12);
    start[12] = start[13] = start[14] = 0;
    start[15] = 1;
    return;
  }
  const Gf128 lengths = gf128_of_block(lengths_block(Mode::kGcm, 0, iv_bytes));
  const Block block =
      gf128_to_block(gf128_multiply(gf128_add(ghash(h, Gf128{}, iv, iv_bytes), lengths), h));
  std::memcpy(start, &block, sizeof block);
}

Gf128 gcm_closing(const Gf128 &h, uint64_t aad_bytes, uint64_t text_bytes) {
  return gf128_multiply(gf128_of_block(lengths_block(Mode::kGcm, aad_bytes, text_bytes)), h);
}

Gf128 gcm_hash_of_tag(const Gf128 &h, Block tag, Block mask, uint64_t aad_bytes,
                      uint64_t text_bytes) {
  return gf128_add(gf128_add(gf128_of_block(tag), gf128_of_block(mask)),
                   gcm_closing(h, aad_bytes, text_bytes));
}

void poly1305_key(const uint8_t keystream[32], Poly *r, Block *s) {
  Block clamped = load_block(keystream);
  clamped.w[0] &= 0x0fffffffu;
  for (int n = 1; n < 4; ++n) clamped.w[n] &= 0x0ffffffcu;
  *r = poly_of_block(clamped);
  r->w[4] &= 0xffffffu;  // poly_of_block() adds 2^128, which r does not have
  *s = load_block(keystream + sizeof(Block));
}

Poly poly_sum(Poly a, Poly b) {
  u64 sums[5];
  for (int n = 0; n < 5; ++n) sums[n] = u64{a.w[n]} + b.w[n];
  return poly_carry(sums);
}

Gf128 join_shares(const Gf128 &h, Gf128 first, Gf128 second, uint64_t blocks) {
  return gf128_add(gf128_multiply(first, gf128_power(h, blocks)), second);
}

Poly join_shares(const Poly &r, Poly first, Poly second, uint64_t blocks) {
  return poly_sum(poly_multiply(first, poly_power(r, blocks)), second);
}

}  // namespace lanecrypt::cpu
