// SPDX-License-Identifier: Apache-2.0
#include "cpu/random.h"

#include <openssl/rand.h>

#include <algorithm>
#include <cstring>

#include "cpu/digest.h"
#include "cpu/openssl_object.h"
#include "libcrypto/forward.h"

namespace lanecrypt::cpu {

Status random_bytes(void *to, size_t bytes) {
  // The generator gives at most this many bytes at once.
  constexpr size_t kMost = 1 << 16;
  uint8_t *at = static_cast<uint8_t *>(to);
  for (size_t left = bytes; left > 0;) {
    const size_t part = std::min(left, kMost);
    if (RAND_priv_bytes_ex(private_library(), at, part, 0) != 1) return openssl_failed();
    at += part;
    left -= part;
  }
  return Status();
}

Status random_bytes_from(const RandomSource &source, void *to, size_t bytes) {
  if (source.function == nullptr) return random_bytes(to, bytes);
  return source.function(source.argument, to, bytes) == 1
             ? Status()
             : Status(LC_ERROR_INTERNAL, "the caller's random generator failed");
}

Status SeededRandom::fill(void *to, size_t bytes) {
  secure::WipedBytes made(kSeedBytes + bytes);
  LC_TRY(digest(Digest::kShake256, {state_}, made));
  state_.assign(made.begin(), made.begin() + kSeedBytes);
  std::memcpy(to, made.data() + kSeedBytes, bytes);
  return Status();
}

}  // namespace lanecrypt::cpu
