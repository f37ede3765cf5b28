// A key as the kernels of RSA want it (kernels/rsa/rsa_layout.h): Montgomery
// constants and pairs for blinding, made by OpenSSL's arithmetic.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/rsa_job.h"

namespace lanecrypt::cpu {

// How numbers are split; see kernels/rsa/rsa_layout.h.
struct RsaImageForm {
  bool fp64;           // limbs of 52 bits in doubles, else of 27 bits in u32
  uint32_t limb_bits;  // of one of them
  uint32_t half_limbs, full_limbs;
  uint32_t exponent_words;
  uint32_t blind_windows;
  bool is_private;

  auto operator<=>(const RsaImageForm &) const = default;
  size_t limb_bytes() const { return fp64 ? 8 : 4; }
  // Of the whole key.
  size_t bytes() const;
};

// Writes the image to `to`, form.bytes() of memory. What does not change is
// made once for each key; each call of a private key's has another blinding
// base (cpu/rsa/blinding.h). Any thread.
Status write_rsa_image(const RsaKey &key, const RsaImageForm &form, uint8_t *to);

// Makes the base that the next image of a private key takes, unless it is there or
// another thread makes it: it is most of the work, and callers have more threads than
// devices. Any thread; waits for none.
void make_rsa_base_ahead(const RsaKey &key);

}  // namespace lanecrypt::cpu
