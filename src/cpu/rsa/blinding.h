// Pairs (r^e, 1/r) mod n of secret random r, which blind the operations of a key. Numbers mod n are
// in OpenSSL's Montgomery form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cpu/openssl_object.h"
#include "cpu/random.h"
#include "job/rsa_job.h"

namespace lanecrypt::cpu {

// The only error of OpenSSL's arithmetic with numbers that were checked.
inline Status no_memory_for_key() { return Status(LC_ERROR_MEMORY, "no memory for the key"); }

// `Modulus` is arithmetic modulo the n of one key. Thread-safe if each thread uses its own
// `context`.
class Modulus {
 public:
  explicit Modulus(const RsaKey &key);
  // False if memory was lacking.
  bool ok() const { return is_made_; }

  const BIGNUM *n() const { return n_.get(); }
  // Computes the product of two numbers in Montgomery form. If one of them is not in that form,
  // neither is the product.
  bool multiply(BIGNUM *product, const BIGNUM *x, const BIGNUM *y, BN_CTX *context) const;
  bool raise_to_e(BIGNUM *x, BN_CTX *context) const;
  bool to_montgomery(BIGNUM *x, BN_CTX *context) const;
  // A secret number below n and not 0. random: nullptr: OpenSSL's private generator.
  Status draw(BIGNUM *r, SeededRandom *random, BN_CTX *context) const;

 private:
  const Number n_, e_;
  const Montgomery montgomery_;
  bool is_made_ = false;
};

struct BlindingPair {
  Number power{BN_new()}, inverse{BN_new()};

  bool ok() const { return power != nullptr && inverse != nullptr; }
};

// Pairs of fresh r as Modulus::draw() gives them, at most as many as are wanted and at least one.
// LC_ERROR_ARGUMENT if the key has too few numbers with an inverse, LC_ERROR_MEMORY, or the failure
// of the random generator.
Result<std::vector<BlindingPair>> draw_pairs(size_t wanted, const Modulus &modulus,
                                             SeededRandom *random, BN_CTX *context);

// `BlindingChain` makes one pair after another: the previous one squared, and after 32 of them a
// fresh one, as OpenSSL's own blinding does. Not thread-safe.
class BlindingChain {
 public:
  // A pair that is good until the next call. Fails as draw_pairs() does.
  Result<const BlindingPair *> next(const Modulus &modulus, SeededRandom *random, BN_CTX *context);

 private:
  Status advance(const Modulus &modulus, SeededRandom *random, BN_CTX *context);

  BlindingPair pair_;
  uint32_t made_ = 0;
  std::vector<BlindingPair> fresh_;
};

}  // namespace lanecrypt::cpu
