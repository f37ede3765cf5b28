// SPDX-License-Identifier: Apache-2.0
#include "rsa_test_key.h"

#include <map>

namespace lanecrypt::test {

TestKey::TestKey(const BIGNUM *p_number, const BIGNUM *q_number, const BIGNUM *e_number) {
  BN_CTX *context = BN_CTX_new();
  Bn p1 = bn(BN_dup(p_number)), q1 = bn(BN_dup(q_number)), phi = bn(), part = bn();
  BN_copy(first.get(), p_number);
  BN_copy(second.get(), q_number);
  BN_copy(exponent.get(), e_number);
  BN_mul(modulus.get(), p_number, q_number, context);
  BN_sub_word(p1.get(), 1);
  BN_sub_word(q1.get(), 1);
  BN_mul(phi.get(), p1.get(), q1.get(), context);
  EXPECT_NE(nullptr, BN_mod_inverse(secret.get(), e_number, phi.get(), context));
  n = bytes_of(modulus.get());
  e = bytes_of(exponent.get());
  p = bytes_of(p_number);
  q = bytes_of(q_number);
  BN_nnmod(part.get(), secret.get(), p1.get(), context);
  dp = bytes_of(part.get());
  BN_nnmod(part.get(), secret.get(), q1.get(), context);
  dq = bytes_of(part.get());
  BN_mod_inverse(part.get(), q_number, p_number, context);
  qinv = bytes_of(part.get());
  BN_CTX_free(context);
}

TestKey TestKey::random(int bits, BN_ULONG public_exponent) {
  BN_CTX *context = BN_CTX_new();
  Bn e_number = bn(), rest = bn();
  BN_set_word(e_number.get(), public_exponent);
  const auto prime = [&] {
    Bn number = bn(), less = bn();
    do {
      BN_generate_prime_ex(number.get(), bits / 2, 0, nullptr, nullptr, nullptr);
      BN_sub(less.get(), number.get(), BN_value_one());
      BN_gcd(rest.get(), less.get(), e_number.get(), context);
      // The two highest bits must be set, so that the product has its full length.
    } while (!BN_is_bit_set(number.get(), bits / 2 - 2) || !BN_is_one(rest.get()));
    return number;
  };
  TestKey key(prime().get(), prime().get(), e_number.get());
  BN_CTX_free(context);
  return key;
}

lc_rsa_parts TestKey::parts() const {
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.n = number_of(n);
  parts.e = number_of(e);
  parts.p = number_of(p);
  parts.q = number_of(q);
  parts.dp = number_of(dp);
  parts.dq = number_of(dq);
  parts.qinv = number_of(qinv);
  return parts;
}

Bytes TestKey::power(const Bytes &in, const BIGNUM *by) const {
  BN_CTX *context = BN_CTX_new();
  Bn number = bn_of(in), result = bn();
  BN_mod_exp(result.get(), number.get(), by, modulus.get(), context);
  BN_CTX_free(context);
  return bytes_of(result.get(), n.size());
}

const TestKey &key_of_bits(int bits) {
  static std::map<int, TestKey> keys;
  auto at = keys.find(bits);
  if (at == keys.end()) at = keys.emplace(bits, TestKey::random(bits)).first;
  return at->second;
}

std::vector<Bytes> extreme_inputs(const TestKey &key, size_t random_count) {
  std::vector<Bytes> inputs;
  const size_t bytes = key.n.size();
  Bn number = bn();
  const auto add = [&](const BIGNUM *one) { inputs.push_back(bytes_of(one, bytes)); };
  BN_zero(number.get());
  add(number.get());
  add(BN_value_one());
  BN_sub(number.get(), key.modulus.get(), BN_value_one());
  add(number.get());
  add(key.first.get());
  add(key.second.get());
  BN_sub(number.get(), key.modulus.get(), key.first.get());
  add(number.get());
  for (size_t n = 0; n < random_count; ++n) {
    BN_rand_range(number.get(), key.modulus.get());
    add(number.get());
  }
  return inputs;
}

}  // namespace lanecrypt::test
