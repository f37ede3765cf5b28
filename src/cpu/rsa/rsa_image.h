// Writes a key in the form of the RSA kernels (kernels/rsa/rsa_layout.h): Montgomery constants and
// pairs for blinding, computed with OpenSSL's big numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/random.h"
#include "job/rsa_job.h"

namespace lanecrypt::cpu {

// `RsaImageForm` is how numbers are split into limbs; see kernels/rsa/rsa_layout.h.
struct RsaImageForm {
  bool fp64;           // limbs of 52 bits in doubles, else of 27 bits in u32
  uint32_t limb_bits;  // of one limb
  uint32_t half_limbs, full_limbs;
  uint32_t exponent_words;
  uint32_t blind_windows;
  bool is_private;

  auto operator<=>(const RsaImageForm &) const = default;
  size_t limb_bytes() const { return fp64 ? 8 : 4; }
  // Returns the bytes of the whole image.
  size_t bytes() const;
};

// Writes the image to `to`, which has form.bytes(). What does not change is made once for
// each key. Each call for a private key has another blinding base (cpu/rsa/blinding.h).
// random: where its numbers come from; nullptr: OpenSSL's private generator. Any thread. An error
// is the key's (LC_ERROR_ARGUMENT), the random generator's, or LC_ERROR_MEMORY.
Status write_rsa_image(const RsaKey &key, const RsaImageForm &form, SeededRandom *random,
                       uint8_t *to);

// Makes the base for the next image of a private key, unless it is there or another
// thread is making it. The base is most of the work, and callers have more threads than
// devices have. Any thread; it does not wait.
void make_rsa_base_ahead(const RsaKey &key, SeededRandom *random);

}  // namespace lanecrypt::cpu
