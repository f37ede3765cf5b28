// SPDX-License-Identifier: Apache-2.0
#include "cpu/rsa/prime_key.h"

#include <openssl/err.h>

#include <bit>
#include <cstring>
#include <utility>

#include "cpu/openssl_object.h"
#include "cpu/random.h"
#include "cpu/rsa/cpu_rsa.h"
#include "secure/key_memory.h"

namespace lanecrypt::cpu {
namespace {

Number secret_number(std::span<const uint8_t> bytes) {
  Number number(BN_secure_new());
  if (!number || BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), number.get()) == nullptr)
    return nullptr;
  BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

Number secret_number() {
  Number number(BN_secure_new());
  if (number) BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

// Returns how often 2 divides candidate - 1.
uint32_t halvings_of(std::span<const uint8_t> candidate) {
  uint32_t zeros = 0;
  for (size_t n = candidate.size(); n-- > 0; zeros += 8) {
    const uint8_t byte = candidate[n] & (zeros == 0 ? 0xfe : 0xff);
    if (byte != 0) return zeros + uint32_t(std::countr_zero(byte));
  }
  return zeros;
}

// `KeyBytes` holds the numbers of a key, one after another in locked memory.
class KeyBytes {
 public:
  // Makes space for seven numbers, none longer than the modulus.
  explicit KeyBytes(uint32_t modulus_bits) : memory_(modulus_bits) {}
  bool ok() const { return memory_.ok(1); }
  // Appends a number. A length of 0 means failure.
  lc_number add(const BIGNUM *number) {
    const int bytes = (BN_num_bits(number) + 7) / 8;
    uint8_t *to = memory_.data() + used_;
    if (memory_.size() - used_ < size_t(bytes) || BN_bn2binpad(number, to, bytes) != bytes)
      return {nullptr, 0};
    used_ += size_t(bytes);
    return {to, size_t(bytes)};
  }

 private:
  secure::KeyMemory memory_;
  size_t used_ = 0;
};

// Returns whether the public operation reverses the private operation on a random number.
Result<bool> is_consistent(const RandomBytes &random, const RsaKey &key) {
  std::vector<uint8_t> in(key.modulus_bytes), out(key.modulus_bytes);
  LC_TRY(random(in.data(), in.size()));
  // Makes the number less than the modulus, whose highest bit is set.
  const uint32_t spare = 8 * key.modulus_bytes - key.modulus_bits;
  in[0] &= uint8_t(0x7f >> spare);
  Status status = run_rsa(key, LC_RSA_PRIVATE, in.data(), out.data());
  if (status.ok()) status = run_rsa(key, LC_RSA_PUBLIC, out.data(), out.data());
  if (status.ok()) return in == out;
  // OpenSSL checks the private operation's result itself, so the operation may fail because p or q
  // is not prime. If both are prime, it is a failure of the CPU.
  constexpr unsigned kRounds = 8;
  Result<bool> primes = has_primes(key, kRounds);
  if (!primes.ok() || *primes) return status;
  return false;
}

Result<bool> passes_fresh_round(const RandomBytes &random, uint32_t bits,
                                std::span<const uint8_t> candidate) {
  secure::KeyMemory base(candidate.size());
  if (!base.ok(candidate.size())) return Status(LC_ERROR_MEMORY, "no memory for the key");
  const uint32_t first = 0;
  LC_TRY(draw_bases(random, bits, candidate, {&first, 1}, {base.data(), base.size()}));
  return passes_round(candidate, {base.data(), base.size()});
}

// Makes a key (FIPS 186-5, Appendix A.1.1 for e and d, and Appendix A.1.3 for p and q).
Result<MadeKey> make(const RandomBytes &random, uint32_t modulus_bits,
                     std::span<const uint8_t> exponent, std::span<const uint8_t> first,
                     std::span<const uint8_t> second) {
  const uint32_t bits = modulus_bits / 2;
  MadeKey made;
  for (const std::span<const uint8_t> prime : {first, second}) {
    Result<bool> passes = passes_fresh_round(random, bits, prime);
    if (!passes.ok()) return passes.status();
    if (!*passes) {
      made.verdict = MadeKey::Verdict::kNotPrime;
      (prime.data() == first.data() ? made.first_is_wrong : made.second_is_wrong) = true;
      return made;
    }
  }

  Number p = secret_number(first), q = secret_number(second), p_less = secret_number(first),
         q_less = secret_number(second);
  const Number difference = secret_number(), common = secret_number(), least = secret_number(),
               d = secret_number(), dp = secret_number(), dq = secret_number(),
               qinv = secret_number(), n(BN_new()),
               e(BN_bin2bn(exponent.data(), int(exponent.size()), nullptr));
  const NumberContext context(BN_CTX_new_ex(private_library()));
  if (!p || !q || !p_less || !q_less || !difference || !common || !least || !d || !dp || !dq ||
      !qinv || !n || !e || !context)
    return Status(LC_ERROR_MEMORY, "no memory for the key");
  if (BN_cmp(p.get(), q.get()) < 0) {
    std::swap(p, q);
    std::swap(p_less, q_less);
  }
  BN_CTX *const with = context.get();
  if (BN_sub(difference.get(), p.get(), q.get()) != 1) return openssl_failed();
  // FIPS 186-5, Appendix A.1.3: |p-q| must be more than 2^(bits-100).
  if (BN_num_bits(difference.get()) <= int(bits) - 99) return made;
  if (BN_sub_word(p_less.get(), 1) != 1 || BN_sub_word(q_less.get(), 1) != 1 ||
      BN_gcd(common.get(), p_less.get(), q_less.get(), with) != 1 ||
      BN_mul(least.get(), p_less.get(), q_less.get(), with) != 1 ||
      BN_div(difference.get(), nullptr, least.get(), common.get(), with) != 1 ||
      BN_copy(least.get(), difference.get()) == nullptr)
    return openssl_failed();
  BN_set_flags(least.get(), BN_FLG_CONSTTIME);
  // Without an inverse, p-1 or q-1 has a factor of e.
  if (BN_mod_inverse(d.get(), e.get(), least.get(), with) == nullptr) return made;
  if (BN_num_bits(d.get()) <= int(bits) + 1) return made;
  if (BN_nnmod(dp.get(), d.get(), p_less.get(), with) != 1 ||
      BN_nnmod(dq.get(), d.get(), q_less.get(), with) != 1 ||
      BN_mod_inverse(qinv.get(), q.get(), p.get(), with) == nullptr ||
      BN_mul(n.get(), p.get(), q.get(), with) != 1)
    return openssl_failed();

  KeyBytes bytes(modulus_bits);
  if (!bytes.ok()) return Status(LC_ERROR_MEMORY, "no memory for the key");
  lc_rsa_parts parts = {};
  parts.struct_size = sizeof parts;
  parts.n = bytes.add(n.get());
  parts.e = {exponent.data(), exponent.size()};
  parts.p = bytes.add(p.get());
  parts.q = bytes.add(q.get());
  parts.dp = bytes.add(dp.get());
  parts.dq = bytes.add(dq.get());
  parts.qinv = bytes.add(qinv.get());
  parts.d = bytes.add(d.get());
  Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(&parts);
  if (!key.ok()) return Status(LC_ERROR_INTERNAL, key.status().text());
  if ((*key)->modulus_bits != modulus_bits)
    return Status(LC_ERROR_INTERNAL, "the modulus has another length");
  if (const Status status = prepare(**key); !status.ok())
    return Status(LC_ERROR_INTERNAL, status.text());
  Result<bool> consistent = is_consistent(random, **key);
  if (!consistent.ok()) return consistent.status();
  made.verdict = *consistent ? MadeKey::Verdict::kGood : MadeKey::Verdict::kNotPrime;
  made.first_is_wrong = made.second_is_wrong = !*consistent;
  if (*consistent) made.key = std::move(*key);
  return made;
}

// Runs one round of the Miller-Rabin test (FIPS 186-5, Appendix B.3.1, step 4).
Result<bool> test(std::span<const uint8_t> candidate, std::span<const uint8_t> base) {
  const Number w = secret_number(candidate), less = secret_number(candidate),
               b = secret_number(base), odd = secret_number(), power = secret_number();
  const NumberContext context(BN_CTX_new_ex(private_library()));
  if (!w || !less || !b || !odd || !power || !context)
    return Status(LC_ERROR_MEMORY, "no memory for a candidate");
  if (BN_sub_word(less.get(), 1) != 1) return openssl_failed();
  if (BN_is_zero(b.get()) || BN_is_one(b.get()) || BN_cmp(b.get(), less.get()) >= 0) return false;
  const uint32_t halvings = halvings_of(candidate);
  if (BN_rshift(odd.get(), less.get(), int(halvings)) != 1) return openssl_failed();
  BN_set_flags(odd.get(), BN_FLG_CONSTTIME);
  if (BN_mod_exp_mont_consttime(power.get(), b.get(), odd.get(), w.get(), context.get(), nullptr) !=
      1)
    return openssl_failed();
  if (BN_is_one(power.get())) return true;
  for (uint32_t n = 0; n < halvings; ++n) {
    if (BN_cmp(power.get(), less.get()) == 0) return true;
    if (BN_mod_mul(power.get(), power.get(), power.get(), w.get(), context.get()) != 1)
      return openssl_failed();
  }
  return false;
}

Result<bool> have_rounds_passed(std::span<const uint8_t> number, unsigned rounds) {
  // For 3, there is no base between 1 and number - 1.
  if (number.size() == 1 && number[0] == 3) return true;
  const uint32_t bits = bits_of(number), stride = prime_stride_bytes(bits);
  secure::KeyMemory padded(stride);
  if (!padded.ok(stride)) return Status(LC_ERROR_MEMORY, "no memory to test a prime");
  std::memset(padded.data(), 0, stride - number.size());
  std::memcpy(padded.data() + stride - number.size(), number.data(), number.size());
  for (unsigned n = 0; n < rounds; ++n) {
    Result<bool> passes = passes_fresh_round(random_bytes, bits, {padded.data(), stride});
    if (!passes.ok() || !*passes) return passes;
  }
  return true;
}

// `ErrorsKept` keeps the caller's error queue unchanged.
struct ErrorsKept {
  ErrorsKept() { (void)ERR_set_mark(); }
  ~ErrorsKept() { (void)ERR_pop_to_mark(); }
};

}  // namespace

Result<bool> passes_round(std::span<const uint8_t> candidate, std::span<const uint8_t> base) {
  const ErrorsKept kept;
  return test(candidate, base);
}

Result<bool> has_primes(const RsaKey &key, unsigned rounds) {
  const ErrorsKept kept;
  for (const std::span<const uint8_t> prime : {key.numbers.p, key.numbers.q}) {
    Result<bool> passed = have_rounds_passed(prime, rounds);
    if (!passed.ok() || !*passed) return passed;
  }
  return true;
}

Result<bool> has_proven_primes(const RsaKey &key) {
  constexpr unsigned kRounds = 16;
  if (key.has_proven_primes) return true;
  Result<bool> primes = has_primes(key, kRounds);
  if (primes.ok() && *primes) key.has_proven_primes = true;
  return primes;
}

Result<MadeKey> make_rsa_key(const RandomBytes &random, uint32_t modulus_bits,
                             std::span<const uint8_t> exponent, std::span<const uint8_t> p,
                             std::span<const uint8_t> q) {
  const ErrorsKept kept;
  return make(random, modulus_bits, exponent, p, q);
}

}  // namespace lanecrypt::cpu
