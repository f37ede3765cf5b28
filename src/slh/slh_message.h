// What the host does of an operation of SLH-DSA: it hashes the message, and writes what the
// kernels are given.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/status.h"
#include "kernels/slh/slh_layout.h"
#include "slh/slh_set.h"

namespace lanecrypt::runtime {

// The parts of a key, n bytes each. To verify, and to make a key, some are empty.
struct SlhKeyParts {
  std::span<const uint8_t> sk_seed, sk_prf, pk_seed, pk_root;
};

// PRF_msg (FIPS 205, section 4.1): R, n bytes. opt_rand: n bytes, or empty for a deterministic
// signature. The message is M', with its domain and context in front (algorithm 22).
Status slh_randomizer(const SlhSet &set, const SlhKeyParts &key, std::span<const uint8_t> opt_rand,
                      std::span<const uint8_t> message, std::span<uint8_t> r);
// H_msg: digest_bytes() bytes.
Status slh_digest(const SlhSet &set, const SlhKeyParts &key, std::span<const uint8_t> r,
                  std::span<const uint8_t> message, std::span<uint8_t> digest);
// The inputs of the kernels. An empty digest is for a new key.
SlhItem slh_item(const SlhSet &set, const SlhKeyParts &key, std::span<const uint8_t> digest);
// n bytes of a hash in the kernels' form, as bytes.
void slh_bytes(const SlhSet &set, const uint32_t *words, uint8_t *to);
// M' of the pure form: a zero, the length of the context, the context and the message. The
// context has at most 255 bytes.
std::vector<uint8_t> slh_pure_message(std::span<const uint8_t> context,
                                      std::span<const uint8_t> message);

}  // namespace lanecrypt::runtime
