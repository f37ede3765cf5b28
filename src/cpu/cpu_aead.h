// Authenticated modes on the CPU: complete messages by OpenSSL's default provider, and pieces and
// tag sums of messages of which a device has processed a part.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt::cpu {

// `AeadSum` is what a piece adds to its message's tag, in the representation of the kernels. GCM: a
// block to be XORed. ChaCha20-Poly1305: five limbs, and from word 8 on the words of s. CCM, whose
// pieces come in order: the MAC so far, and at the end the tag.
using AeadSum = std::array<uint32_t, 12>;

struct AeadInput {
  const uint8_t *key;  // kind.key_bytes
  const uint8_t *iv;
  uint32_t iv_bytes;
  const uint8_t *aad;
  uint64_t aad_length;
};

// Returns whether OpenSSL can process the complete message.
bool takes_whole(const CipherKind &kind, const AeadInput &input, uint64_t length);

// Encrypts or decrypts a complete message. Encryption writes the tag. Decryption checks it: if it
// is wrong, `out` is wiped and LC_ERROR_TAG is returned. Thread-safe.
Status run_aead(const CipherKind &kind, const AeadInput &input, const uint8_t *in, uint8_t *out,
                uint64_t length, uint8_t *tag, uint32_t tag_bytes);

// Returns the first counter block of a message: J0 of GCM (SP 800-38D, section 7.1), counter 0 and
// the nonce of ChaCha20-Poly1305 (RFC 8439, section 2.8), counter block 0 of CCM (SP 800-38C,
// Appendix A.3). The first block of the text has that counter plus 1.
Result<Iv> aead_start(const CipherKind &kind, const uint8_t *key, const uint8_t *iv,
                      uint32_t iv_bytes);

// Returns `start` with `blocks` added to its counter. The counter has 32 bits and wraps: big-endian
// in the last bytes for GCM, little-endian in the first for ChaCha20.
Iv aead_counter(const CipherKind &kind, const Iv &start, uint64_t blocks);

// `AeadPiece` is a piece of a message. It begins `offset` bytes into the text (a multiple of 64).
// The last block of its sum has the power `exponent` of H. in == out is allowed. Additional data
// (`is_aad`) is only hashed.
struct AeadPiece {
  const uint8_t *in;
  uint8_t *out;
  uint64_t length, offset, exponent;
  bool is_aad;
};
Status run_aead_piece(const CipherKind &kind, const uint8_t *key, const Iv &start,
                      const AeadPiece &piece, AeadSum *sum);
// Adds the last share of a message's tag: the block of the lengths, and the mask.
Status close_aead(const CipherKind &kind, const uint8_t *key, const Iv &start, uint64_t aad_length,
                  uint64_t length, AeadSum *sum);

void add_aead_sum(const CipherKind &kind, const AeadSum &more, AeadSum *sum);
// Returns the tag of 16 bytes, from the sum of all pieces and of close_aead().
std::array<uint8_t, 16> aead_tag(const CipherKind &kind, const AeadSum &sum);

// Adds a part of a message, whose last block has the power 2, to the sum of what precedes it, as
// lc_aead_part says. `blocks` is the number of blocks of the part's text.
Status add_aead_part(const CipherKind &kind, const uint8_t *key, const Iv &start, uint64_t blocks,
                     const AeadSum &part, uint32_t sum[8]);

// Returns whether the first `bytes` bytes are equal, in a time that does not depend on where they
// differ.
bool same_tag(const uint8_t *a, const uint8_t *b, uint32_t bytes);

}  // namespace lanecrypt::cpu
