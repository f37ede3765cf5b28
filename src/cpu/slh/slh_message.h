// The host's part of an SLH-DSA operation: hashes the message, and writes the kernels' input.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/slh_job.h"
#include "job/status.h"
#include "kernels/slh/slh_layout.h"

namespace lanecrypt::cpu {

// `SlhEncoded` is M' (FIPS 205, Algorithms 22 to 25), as two parts that are hashed as if
// concatenated.
struct SlhEncoded {
  std::vector<uint8_t> head;  // empty for a raw message
  std::span<const uint8_t> rest;
};

// Encodes a message of a job. For a pre-hash signature its digest becomes part of the head.
Result<SlhEncoded> slh_encode(const SlhJob &job, const SlhMessage &message);

// PRF_msg (FIPS 205, section 4.1): computes R, n bytes. `opt_rand` has n bytes, or is empty for a
// deterministic signature.
Status slh_randomizer(const SlhSet &set, const SlhKeyParts &key, std::span<const uint8_t> opt_rand,
                      const SlhEncoded &message, std::span<uint8_t> r);
// H_msg (FIPS 205, section 4.1): computes the digest, digest_bytes() bytes.
Status slh_digest(const SlhSet &set, const SlhKeyParts &key, std::span<const uint8_t> r,
                  const SlhEncoded &message, std::span<uint8_t> digest);

// Writes the kernels' input for a key. For key generation the root is empty.
void slh_put_key(const SlhSet &set, const SlhKeyParts &key, SlhItem &item);
// Writes the kernels' input for a message: the indices in its digest (FIPS 205, Algorithm 19,
// slh_sign_internal).
void slh_put_digest(const SlhSet &set, std::span<const uint8_t> digest, SlhItem &item);
// Converts n bytes of a hash from the kernels' words to bytes.
void slh_bytes(const SlhSet &set, const uint32_t *words, uint8_t *to);

}  // namespace lanecrypt::cpu
