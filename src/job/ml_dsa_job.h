// ML-DSA jobs as plain data: keys, and the library's own, checked form of lc_ml_dsa_job.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "job/key_attachment.h"
#include "job/ml_dsa_sizes.h"
#include "job/random_source.h"
#include "job/status.h"
#include "secure/key_memory.h"

namespace lanecrypt {

namespace cpu {
struct OpensslMlDsaKey;
}

// `MlDsaParts` is the parts of a key from the caller, with the lengths of the set; empty if left
// out.
struct MlDsaParts {
  const MlDsaSizes *sizes = nullptr;
  std::span<const uint8_t> seed, private_key, public_key;
  RandomSource random;
};

// `MlDsaKey` is a key, in memory that a child of fork() keeps, because a server reads its keys
// before it forks its workers. cpu::make_ml_dsa_key() makes it.
struct MlDsaKey {
  explicit MlDsaKey(const MlDsaSizes &of) : sizes(of) {}

  // Returns the public key followed by the private key, if there is one.
  std::span<const uint8_t> whole() const {
    return {memory.data(), sizes.public_bytes + (is_private ? sizes.private_bytes : 0)};
  }
  std::span<const uint8_t> public_key() const { return whole().first(sizes.public_bytes); }
  std::span<const uint8_t> private_key() const { return whole().subspan(sizes.public_bytes); }

  const MlDsaSizes &sizes;
  bool is_private = false;
  RandomSource random;
  std::array<uint8_t, 64> tr = {};  // the hash of the public key, which is hashed before messages
  // OpenSSL's form of the key, from 3.5 on; otherwise nullptr.
  std::shared_ptr<const cpu::OpensslMlDsaKey> on_cpu;
  secure::KeyMemory memory;
  mutable KeyAttachments attachments;
};

using MlDsaKeyPointer = std::shared_ptr<const MlDsaKey>;

struct MlDsaMessage {
  uint32_t key = 0;  // index in MlDsaJob::keys
  std::span<const uint8_t> message, context;
  const uint8_t *random = nullptr;  // also the seed of a new key
  uint8_t *signature = nullptr;
  // For a signature to verify: false if its length makes it invalid.
  bool has_right_length = true;
  uint8_t *public_key = nullptr, *private_key = nullptr;
};

struct MlDsaJob {
  lc_ml_dsa_operation operation = LC_ML_DSA_SIGN;
  lc_message_encoding encoding = LC_MESSAGE_PURE;
  const MlDsaSizes *sizes = nullptr;  // of new keys
  bool is_deterministic = false;
  uint32_t device = LC_ANY_DEVICE;  // or LC_CPU
  std::vector<MlDsaKeyPointer> keys;
  std::vector<MlDsaMessage> messages;
  uint8_t *verdicts = nullptr;
  RandomSource random;
};

// Checks the parts of a key as far as possible without computation.
Result<MlDsaParts> check_ml_dsa_parts(const lc_ml_dsa_parts *parts);

// Checks a job of the ABI. `key_of` converts an lc_ml_dsa_key. Zeroes the verdicts.
using MlDsaKeyOf = const MlDsaKeyPointer &(*)(const lc_ml_dsa_key *);
Result<MlDsaJob> make_ml_dsa_job(const lc_ml_dsa_job *job, MlDsaKeyOf key_of);

}  // namespace lanecrypt
