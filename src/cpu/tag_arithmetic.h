// The arithmetic of the tags of GCM (SP 800-38D) and ChaCha20-Poly1305 (RFC 8439), with the field
// arithmetic of the kernels: values derived from keys and IVs, hashes, and shares of hashes. Its
// time depends on lengths only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "job/cipher/block_cipher.h"
#include "kernels/aead/gf128.h"
#include "kernels/aead/poly1305_field.h"

namespace lanecrypt::cpu {

// Loads 16 bytes, or fewer padded with zeros.
inline Block load_block(const uint8_t *from, uint64_t bytes = sizeof(Block)) {
  Block block = {};
  std::memcpy(&block, from, std::min<uint64_t>(bytes, sizeof block));
  return block;
}

// Returns the last block of the hash: both lengths, in bits and big-endian for GCM (SP 800-38D,
// section 7.1), in bytes and little-endian for ChaCha20-Poly1305 (RFC 8439, section 2.8).
Block lengths_block(Mode mode, uint64_t aad_bytes, uint64_t text_bytes);

// Continues GHASH (SP 800-38D, section 6.4, Algorithm 2): `sum` is the hash so far, and these bytes
// follow.
Gf128 ghash(const Gf128 &h, Gf128 sum, const uint8_t *from, uint64_t bytes);

// Computes J0 of GCM (SP 800-38D, section 7.1, Algorithm 4, step 2). `h` is read only if the IV
// does not have 12 bytes.
void gcm_start(const Gf128 &h, const uint8_t *iv, uint64_t iv_bytes, uint8_t start[16]);

// Returns what the block of the lengths adds to a GCM tag (SP 800-38D, section 7.1).
Gf128 gcm_closing(const Gf128 &h, uint64_t aad_bytes, uint64_t text_bytes);

// Returns what all blocks before the block of the lengths add: the tag without the lengths' share
// and the mask.
Gf128 gcm_hash_of_tag(const Gf128 &h, Block tag, Block mask, uint64_t aad_bytes,
                      uint64_t text_bytes);

// Computes r and s of Poly1305 (RFC 8439, sections 2.5.1 and 2.6) from the first 32 bytes of block
// 0 of the key stream.
void poly1305_key(const uint8_t keystream[32], Poly *r, Block *s);

// Returns a + b, with limbs as poly_carry() leaves them.
Poly poly_sum(Poly a, Poly b);

// Joins two shares of a hash. The second follows the first and has `blocks` blocks.
Gf128 join_shares(const Gf128 &h, Gf128 first, Gf128 second, uint64_t blocks);
Poly join_shares(const Poly &r, Poly first, Poly second, uint64_t blocks);

}  // namespace lanecrypt::cpu
