// RSA jobs as plain data: keys, and the library's own, checked form of lc_rsa_job.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "job/key_attachment.h"
#include "job/random_source.h"
#include "job/status.h"
#include "secure/key_memory.h"

namespace lanecrypt {

namespace cpu {
class OpensslKey;
}

// The numbers of a key (RFC 8017, section 3), big-endian, without leading zeros.
struct RsaNumbers {
  std::span<const uint8_t> n, e;
  // Empty for a public key. d is also empty if the caller left it out.
  std::span<const uint8_t> p, q, dp, dq, qinv, d;
};

// `RsaKey` is a copy of the caller's key, in memory that a child of fork() keeps, because a server
// reads its keys before it forks its workers.
struct RsaKey {
  RsaNumbers numbers;
  uint32_t modulus_bits = 0;
  uint32_t modulus_bytes = 0;
  bool is_private = false;
  uint64_t exponent = 0;  // e; 0 where it has more than 64 bits
  RandomSource random;    // of what blinds it
  // What OpenSSL makes of it: set by cpu::prepare().
  std::shared_ptr<const cpu::OpensslKey> on_cpu;

  secure::KeyMemory memory;  // of the numbers
  mutable KeyAttachments attachments;

  // Whether p or q was found not to be prime. Private operations are then refused, because their
  // results would be wrong.
  mutable std::atomic<bool> is_at_fault = false;
  // Whether cpu::has_proven_primes() has found that both are prime.
  mutable std::atomic<bool> has_proven_primes = false;
};

using RsaKeyPointer = std::shared_ptr<const RsaKey>;

struct RsaMessage {
  uint32_t key;  // index in RsaJob::keys
  const uint8_t *in;
  uint8_t *out;
};

struct RsaJob {
  lc_rsa_operation operation = LC_RSA_PUBLIC;
  uint32_t device = LC_ANY_DEVICE;  // or LC_CPU
  std::vector<RsaKeyPointer> keys;
  std::vector<RsaMessage> messages;

  const RsaKey &key_of(const RsaMessage &message) const { return *keys[message.key]; }
};

// Returns the length of a big-endian number in bits.
uint32_t bits_of(std::span<const uint8_t> number);

// Copies the numbers of a key and checks their sizes. cpu::prepare() checks the relations between
// them.
Result<std::shared_ptr<RsaKey>> copy_rsa_key(const lc_rsa_parts *parts);

// Checks a job of the ABI. `key_of` converts an lc_rsa_key.
using RsaKeyOf = const RsaKeyPointer &(*)(const lc_rsa_key *);
Result<RsaJob> make_rsa_job(const lc_rsa_job *job, RsaKeyOf key_of);

}  // namespace lanecrypt
