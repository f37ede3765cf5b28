// Samples of a device's output, recomputed on the CPU. Defective memory and overheated cards give
// wrong bytes without an error.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"

namespace lanecrypt::verify {

// A piece of a message, as a device was given it.
struct Span {
  CipherKind kind;
  const uint8_t *key;
  Iv iv;             // of its first block; for authenticated modes, the counter block of that
  bool iv_is_known;  // false: only the device has it, from the slice before
  bool ends_message;
  uint64_t length;
  uint64_t data_unit_bytes;
};

// Bytes of a piece that can be computed from the bytes next to them: one block, or less at the end,
// or the last two blocks if there is ciphertext stealing. Samples do not cover tags.
struct Sample {
  uint64_t offset = 0;  // in the piece
  uint32_t length = 0;  // 0: no part of the piece can be a sample
  std::array<uint8_t, kChaChaBlockBytes> in;
  Iv in_before;  // the 16 bytes of input before it, unless offset is 0
};

// Takes the sample at or near byte `near` of a piece whose input is at `in`.
Sample take_sample(const Span &span, const uint8_t *in, uint64_t near);

// Returns LC_ERROR_DEVICE if `out`, which has sample.length bytes, is wrong. `out_before` is the 16
// bytes before it, unless the sample's offset is 0.
Status check_sample(const Span &span, const Sample &sample, const uint8_t *out,
                    const uint8_t *out_before);

// As check_sample() for a whole piece. Of the authenticated modes it supports only CCM. If the IV
// is not known, the first block is not checked, and only the second is computed from it.
Status check_all(const Span &span, const uint8_t *in, const uint8_t *out);

// The error of a device that gives wrong output.
Status wrong_output(const CipherKind &kind);

}  // namespace lanecrypt::verify
