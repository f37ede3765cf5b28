// SPDX-License-Identifier: Apache-2.0
#include "cpu/rsa/blinding.h"

namespace lanecrypt::cpu {
namespace {

// As in OpenSSL's own blinding (BN_BLINDING_COUNTER).
constexpr uint32_t kPairsOfOne = 32;
// Pairs that share one inversion, which takes as long as a private operation.
constexpr size_t kPairsOfOneInversion = 8;

// The most draws until a number has an inverse.
constexpr int kMostAttempts = 16;

enum class Drawn { kPairs, kNoInverse };

// Montgomery's trick: the inverse of the product of all r, times the other r, is the
// inverse of one.
Result<Drawn> draw_all(std::vector<BlindingPair> &pairs, const Modulus &modulus,
                       SeededRandom *random, BN_CTX *context) {
  // Until the pairs are known, r stands in the place of its power, and the product of all
  // r so far in the place of the inverse.
  const BIGNUM *product = nullptr;
  for (BlindingPair &pair : pairs) {
    BIGNUM *r = pair.power.get();
    if (!pair.ok()) return no_memory_for_key();
    LC_TRY(modulus.draw(r, random, context));
    if (product == nullptr ? BN_copy(pair.inverse.get(), r) == nullptr
                           : !modulus.multiply(pair.inverse.get(), product, r, context))
      return no_memory_for_key();
    product = pair.inverse.get();
  }
  // The inverse of r R is 1/r 1/R, but R/r is needed.
  const Number inverse(BN_new());
  if (!inverse) return no_memory_for_key();
  if (BN_mod_inverse(inverse.get(), product, modulus.n(), context) == nullptr) {
    const Number common(BN_new());
    if (!common || BN_gcd(common.get(), product, modulus.n(), context) != 1)
      return no_memory_for_key();
    return BN_is_one(common.get()) ? Result<Drawn>(no_memory_for_key()) : Drawn::kNoInverse;
  }
  if (!modulus.to_montgomery(inverse.get(), context) ||
      !modulus.to_montgomery(inverse.get(), context))
    return no_memory_for_key();
  for (size_t n = pairs.size(); n-- > 0;) {
    BIGNUM *r = pairs[n].power.get(), *of_r = pairs[n].inverse.get();
    if (n == 0 ? BN_copy(of_r, inverse.get()) == nullptr
               : !modulus.multiply(of_r, inverse.get(), pairs[n - 1].inverse.get(), context) ||
                     !modulus.multiply(inverse.get(), inverse.get(), r, context))
      return no_memory_for_key();
    if (!modulus.raise_to_e(r, context)) return no_memory_for_key();
  }
  return Drawn::kPairs;
}

}  // namespace

Modulus::Modulus(const RsaKey &key)
    : n_(number_of(key.numbers.n)), e_(number_of(key.numbers.e)), montgomery_(BN_MONT_CTX_new()) {
  const NumberContext context(BN_CTX_new_ex(private_library()));
  is_made_ = n_ != nullptr && e_ != nullptr && montgomery_ != nullptr && context != nullptr &&
             BN_MONT_CTX_set(montgomery_.get(), n_.get(), context.get()) == 1;
}

Status Modulus::draw(BIGNUM *r, SeededRandom *random, BN_CTX *context) const {
  const size_t bits = static_cast<size_t>(BN_num_bits(n())), bytes = (bits + 7) / 8;
  if (random == nullptr) {
    do {
      if (BN_priv_rand_range_ex(r, n(), 0, context) != 1)
        return Status(LC_ERROR_INTERNAL, "OpenSSL's random generator failed");
    } while (BN_is_zero(r));
    return Status();
  }
  secure::KeyMemory memory(bytes);
  if (!memory.ok(bytes)) return no_memory_for_key();
  // Each draw is below n with a chance of a half or more.
  do {
    LC_TRY(random->fill(memory.data(), bytes));
    memory.data()[0] &= static_cast<uint8_t>(0xff >> (8 * bytes - bits));
    if (BN_bin2bn(memory.data(), static_cast<int>(bytes), r) == nullptr) return no_memory_for_key();
  } while (BN_is_zero(r) || BN_cmp(r, n()) >= 0);
  return Status();
}

bool Modulus::multiply(BIGNUM *product, const BIGNUM *x, const BIGNUM *y, BN_CTX *context) const {
  return BN_mod_mul_montgomery(product, x, y, montgomery_.get(), context) == 1;
}

bool Modulus::raise_to_e(BIGNUM *x, BN_CTX *context) const {
  return BN_from_montgomery(x, x, montgomery_.get(), context) == 1 &&
         BN_mod_exp_mont(x, x, e_.get(), n_.get(), context, montgomery_.get()) == 1 &&
         to_montgomery(x, context);
}

bool Modulus::to_montgomery(BIGNUM *x, BN_CTX *context) const {
  return BN_to_montgomery(x, x, montgomery_.get(), context) == 1;
}

Result<std::vector<BlindingPair>> draw_pairs(size_t wanted, const Modulus &modulus,
                                             SeededRandom *random, BN_CTX *context) {
  // With two long primes, one r in about 2^500 has no inverse. With a short prime many
  // have none, and a product of several even more often.
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::vector<BlindingPair> pairs(attempt == 0 ? wanted : 1);
    Result<Drawn> drawn = draw_all(pairs, modulus, random, context);
    if (!drawn.ok()) return drawn.status();
    if (*drawn == Drawn::kPairs) return pairs;
  }
  return Status(LC_ERROR_ARGUMENT,
                "the RSA key cannot be blinded: too few numbers have an inverse modulo its n");
}

Result<const BlindingPair *> BlindingChain::next(const Modulus &modulus, SeededRandom *random,
                                                 BN_CTX *context) {
  // After a failure, which may have left half a pair, a fresh one is drawn.
  const Status status = advance(modulus, random, context);
  made_ = status.ok() ? made_ + 1 : 0;
  if (!status.ok()) return status;
  return &pair_;
}

Status BlindingChain::advance(const Modulus &modulus, SeededRandom *random, BN_CTX *context) {
  BIGNUM *power = pair_.power.get(), *inverse = pair_.inverse.get();
  if (made_ % kPairsOfOne != 0) {
    const bool is_squared = modulus.multiply(power, power, power, context) &&
                            modulus.multiply(inverse, inverse, inverse, context);
    return is_squared ? Status() : no_memory_for_key();
  }
  // One pair only at first, because a new key may not be used much.
  if (fresh_.empty()) {
    Result<std::vector<BlindingPair>> drawn =
        draw_pairs(made_ == 0 ? 1 : kPairsOfOneInversion, modulus, random, context);
    if (!drawn.ok()) return drawn.status();
    fresh_ = std::move(*drawn);
  }
  pair_ = std::move(fresh_.back());
  fresh_.pop_back();
  return Status();
}

}  // namespace lanecrypt::cpu
