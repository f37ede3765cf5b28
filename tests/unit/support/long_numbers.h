// Helpers around OpenSSL's BIGNUM. Tests use them to recompute results.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/bn.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lanecrypt::test {

using Bytes = std::vector<uint8_t>;
using Bn = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

inline Bn bn(BIGNUM *number = nullptr) { return {number == nullptr ? BN_new() : number, &BN_free}; }

inline Bn bn_of(std::span<const uint8_t> bytes) {
  return bn(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
}

// Returns `number` as big-endian bytes, padded with leading zeros to `least` bytes.
inline Bytes bytes_of(const BIGNUM *number, size_t least = 0) {
  Bytes bytes(std::max<size_t>(BN_num_bytes(number), least));
  BN_bn2binpad(number, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

// Returns 2^bits + add.
inline Bn power_of_two(int bits, int add = 0) {
  Bn number = bn();
  BN_set_bit(number.get(), bits);
  add < 0 ? BN_sub_word(number.get(), static_cast<BN_ULONG>(-add))
          : BN_add_word(number.get(), static_cast<BN_ULONG>(add));
  return number;
}

// Runs one round of the Miller-Rabin test with a random base.
inline bool passes_round(const BIGNUM *number, BN_CTX *context) {
  const Bn less = bn(BN_dup(number)), odd = bn(), base = bn(), power = bn();
  BN_sub_word(less.get(), 1);
  int halvings = 0;
  while (!BN_is_bit_set(less.get(), halvings)) ++halvings;
  BN_rshift(odd.get(), less.get(), halvings);
  do BN_rand_range(base.get(), less.get());
  while (BN_is_zero(base.get()) || BN_is_one(base.get()));
  BN_mod_exp(power.get(), base.get(), odd.get(), number, context);
  if (BN_is_one(power.get())) return true;
  for (int n = 0; n < halvings; ++n) {
    if (BN_cmp(power.get(), less.get()) == 0) return true;
    BN_mod_sqr(power.get(), power.get(), number, context);
  }
  return false;
}

inline bool is_prime(const BIGNUM *number) {
  BN_CTX *context = BN_CTX_new();
  bool is = true;
  if (BN_num_bits(number) <= 1024) {
    is = BN_check_prime(number, context, nullptr) == 1;
  } else {
    // OpenSSL's own 128 rounds take many seconds. A random composite number of this length passes
    // three rounds with a probability of 2^-100, and any other composite with at most 1/64.
    for (int round = 0; is && round < 3; ++round) is = passes_round(number, context);
  }
  BN_CTX_free(context);
  return is;
}

}  // namespace lanecrypt::test
