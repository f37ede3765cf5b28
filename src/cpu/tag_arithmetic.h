// The arithmetic of the tags of GCM (SP 800-38D) and ChaCha20-Poly1305 (RFC 8439), in the
// fields of the kernels: what is derived from keys and IVs, hashes, and shares of hashes.
// Its time depends on lengths alone.
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

// 16 bytes, or fewer with zeros behind them.
inline Block load_block(const uint8_t *from, uint64_t bytes = sizeof(Block)) {
  Block block = {};
  std::memcpy(&block, from, std::min<uint64_t>(bytes, sizeof block));
  return block;
}

// The last block of the hash: both lengths, in bits and big-endian for GCM (SP 800-38D, 7.1),
// in bytes and little-endian for ChaCha20-Poly1305 (RFC 8439, 2.8).
Block lengths_block(Mode mode, uint64_t aad_bytes, uint64_t text_bytes);

// GHASH (SP 800-38D, 6.4), continued: `sum` is the hash so far, and these bytes follow.
Gf128 ghash(const Gf128 &h, Gf128 sum, const uint8_t *from, uint64_t bytes);

// GCM's J0 (SP 800-38D, 7.1). h is read only where the IV has not 12 bytes.
void gcm_start(const Gf128 &h, const uint8_t *iv, uint64_t iv_bytes, uint8_t start[16]);

// What the block of lengths adds to a tag of GCM (SP 800-38D, 7.1).
Gf128 gcm_closing(const Gf128 &h, uint64_t aad_bytes, uint64_t text_bytes);

// What all blocks before the block of lengths add: the tag without its closing and its
// mask.
Gf128 gcm_hash_of_tag(const Gf128 &h, Block tag, Block mask, uint64_t aad_bytes,
                      uint64_t text_bytes);

// Poly1305's r and s (RFC 8439, 2.5.1 and 2.6), from the first 32 bytes of the keystream's
// block 0.
void poly1305_key(const uint8_t keystream[32], Poly *r, Block *s);

// a + b; limbs as poly_carry() leaves them.
Poly poly_sum(Poly a, Poly b);

// Two shares of a hash as one: the second follows the first, and has so many blocks.
Gf128 join_shares(const Gf128 &h, Gf128 first, Gf128 second, uint64_t blocks);
Poly join_shares(const Poly &r, Poly first, Poly second, uint64_t blocks);

}  // namespace lanecrypt::cpu
