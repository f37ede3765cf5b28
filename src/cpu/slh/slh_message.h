// What the host does of an operation of SLH-DSA: it hashes the message, and writes what the
// kernels are given.
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

// M' of FIPS 205, algorithms 22 to 25, as the parts that are hashed in a row.
struct SlhEncoded {
  std::vector<uint8_t> head;  // empty for a raw message
  std::span<const uint8_t> rest;
};

// message is what the job says of it; for a pre-hash signature its digest is put in the head.
Result<SlhEncoded> slh_encode(const SlhJob &job, const SlhMessage &message);

// PRF_msg (FIPS 205, section 4.1): R, n bytes. opt_rand: n bytes, or empty for a deterministic
// signature.
Status slh_randomizer(const SlhSet &set, const SlhKeyParts &key, std::span<const uint8_t> opt_rand,
                      const SlhEncoded &message, std::span<uint8_t> r);
// H_msg: digest_bytes() bytes.
Status slh_digest(const SlhSet &set, const SlhKeyParts &key, std::span<const uint8_t> r,
                  const SlhEncoded &message, std::span<uint8_t> digest);

// What the kernels are given of a key. To make one it has no root.
void slh_put_key(const SlhSet &set, const SlhKeyParts &key, SlhItem &item);
// What they are given of a message.
void slh_put_digest(const SlhSet &set, std::span<const uint8_t> digest, SlhItem &item);
// n bytes of a hash in the kernels' form, as bytes.
void slh_bytes(const SlhSet &set, const uint32_t *words, uint8_t *to);

}  // namespace lanecrypt::cpu
