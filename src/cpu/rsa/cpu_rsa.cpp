// SPDX-License-Identifier: Apache-2.0
#include "cpu/rsa/cpu_rsa.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <cstring>

#include "cpu/rsa/openssl_key.h"
#include "libcrypto/forward.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::cpu {

namespace {

Number to_number(std::span<const uint8_t> bytes) {
  Number number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  if (number) BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

// `Relations` checks the relations between the numbers of a private key, and computes d if it was
// left out.
class Relations {
 public:
  explicit Relations(const RsaNumbers &numbers)
      : n_(to_number(numbers.n)),
        e_(to_number(numbers.e)),
        p_(to_number(numbers.p)),
        q_(to_number(numbers.q)),
        product_(BN_new()),
        p_less_(to_number(numbers.p)),
        q_less_(to_number(numbers.q)),
        context_(BN_CTX_new_ex(private_library())) {}

  Status check(const RsaNumbers &numbers) {
    const Number dp = to_number(numbers.dp), dq = to_number(numbers.dq),
                 qinv = to_number(numbers.qinv);
    if (!n_ || !e_ || !p_ || !q_ || !product_ || !p_less_ || !q_less_ || !context_ || !dp || !dq ||
        !qinv)
      return Status(LC_ERROR_MEMORY, "no memory for the key");
    if (numbers.p.back() % 2 == 0 || numbers.q.back() % 2 == 0 || BN_is_one(p_.get()) ||
        BN_is_one(q_.get()))
      return wrong_argument("p or q of the RSA key is no odd prime");
    if (BN_mul(product_.get(), p_.get(), q_.get(), context_.get()) != 1) return openssl_failed();
    if (BN_cmp(product_.get(), n_.get()) != 0) return wrong_argument("n of the RSA key is not p q");
    if (BN_sub_word(p_less_.get(), 1) != 1 || BN_sub_word(q_less_.get(), 1) != 1)
      return openssl_failed();
    LC_TRY(is_inverse(*dp, *e_, *p_less_, "dp of the RSA key is not 1/e mod p-1"));
    LC_TRY(is_inverse(*dq, *e_, *q_less_, "dq of the RSA key is not 1/e mod q-1"));
    LC_TRY(is_inverse(*qinv, *q_, *p_, "qinv of the RSA key is not 1/q mod p"));
    if (numbers.d.empty()) return Status();
    const Number d = to_number(numbers.d);
    if (!d) return Status(LC_ERROR_MEMORY, "no memory for the key");
    for (const auto &[less, part] :
         {std::pair(p_less_.get(), dp.get()), {q_less_.get(), dq.get()}}) {
      if (BN_nnmod(product_.get(), d.get(), less, context_.get()) != 1) return openssl_failed();
      if (BN_cmp(product_.get(), part) != 0)
        return wrong_argument("d of the RSA key is not dp mod p-1 and dq mod q-1");
    }
    return Status();
  }

  // Returns 1/e mod (p-1)(q-1), which is as good as 1/e modulo their least common multiple.
  Number compute_d() {
    Number d(BN_new());
    if (!d || BN_mul(product_.get(), p_less_.get(), q_less_.get(), context_.get()) != 1)
      return nullptr;
    BN_set_flags(product_.get(), BN_FLG_CONSTTIME);
    if (BN_mod_inverse(d.get(), e_.get(), product_.get(), context_.get()) == nullptr)
      return nullptr;
    return d;
  }

 private:
  Status is_inverse(const BIGNUM &a, const BIGNUM &b, const BIGNUM &modulus, const char *text) {
    if (BN_cmp(&a, &modulus) >= 0) return wrong_argument(text);
    if (BN_mod_mul(product_.get(), &a, &b, &modulus, context_.get()) != 1) return openssl_failed();
    return BN_is_one(product_.get()) ? Status() : wrong_argument(text);
  }

  Number n_, e_, p_, q_, product_, p_less_, q_less_;
  NumberContext context_;
};

// `KeyParameters` is the numbers as EVP_PKEY_fromdata() takes them: little-endian, in locked
// memory.
class KeyParameters {
 public:
  explicit KeyParameters(size_t most_bytes) : memory_(most_bytes) {}
  bool ok(size_t most_bytes) const { return memory_.ok(most_bytes); }

  void add(const char *name, std::span<const uint8_t> big_endian) {
    uint8_t *to = memory_.data() + used_;
    std::reverse_copy(big_endian.begin(), big_endian.end(), to);
    parameters_[count_++] = OSSL_PARAM OSSL_PARAM_BN(name, to, big_endian.size());
    used_ += big_endian.size();
  }
  void add(const char *name, const BIGNUM &number) {
    const int bytes = (BN_num_bits(&number) + 7) / 8;
    uint8_t *to = memory_.data() + used_;
    if (BN_bn2lebinpad(&number, to, bytes) != bytes) return;
    parameters_[count_++] = OSSL_PARAM OSSL_PARAM_BN(name, to, static_cast<size_t>(bytes));
    used_ += static_cast<size_t>(bytes);
  }
  OSSL_PARAM *get() {
    parameters_[count_] = OSSL_PARAM OSSL_PARAM_END;
    return parameters_;
  }

 private:
  secure::KeyMemory memory_;
  size_t used_ = 0;
  OSSL_PARAM parameters_[9];
  size_t count_ = 0;
};

}  // namespace

namespace {

Status make_pkey(RsaKey &key) {
  if (private_library() == nullptr)
    return Status(LC_ERROR_UNSUPPORTED, "found no libcrypto of OpenSSL 3.0 or later");
  const RsaNumbers &numbers = key.numbers;
  const size_t most_bytes = 8 * key.modulus_bytes;
  KeyParameters parameters(most_bytes);
  if (!parameters.ok(most_bytes)) return Status(LC_ERROR_MEMORY, "no memory for the key");
  parameters.add(OSSL_PKEY_PARAM_RSA_N, numbers.n);
  parameters.add(OSSL_PKEY_PARAM_RSA_E, numbers.e);
  if (key.is_private) {
    Relations relations(numbers);
    LC_TRY(relations.check(numbers));
    if (numbers.d.empty()) {
      const Number d = relations.compute_d();
      if (!d) return openssl_failed();
      parameters.add(OSSL_PKEY_PARAM_RSA_D, *d);
    } else {
      parameters.add(OSSL_PKEY_PARAM_RSA_D, numbers.d);
    }
    parameters.add(OSSL_PKEY_PARAM_RSA_FACTOR1, numbers.p);
    parameters.add(OSSL_PKEY_PARAM_RSA_FACTOR2, numbers.q);
    parameters.add(OSSL_PKEY_PARAM_RSA_EXPONENT1, numbers.dp);
    parameters.add(OSSL_PKEY_PARAM_RSA_EXPONENT2, numbers.dq);
    parameters.add(OSSL_PKEY_PARAM_RSA_COEFFICIENT1, numbers.qinv);
  }
  const PkeyContext context(
      EVP_PKEY_CTX_new_from_name(private_library(), "RSA", "provider=default"));
  EVP_PKEY *pkey = nullptr;
  if (!context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &pkey,
                        key.is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                        parameters.get()) != 1)
    return openssl_failed();
  auto on_cpu = std::make_shared<OpensslKey>();
  on_cpu->pkey.reset(pkey);
  key.on_cpu = std::move(on_cpu);
  return Status();
}

}  // namespace

Status prepare(RsaKey &key) {
  // The caller's error queue must not change.
  (void)ERR_set_mark();
  const Status status = make_pkey(key);
  (void)ERR_pop_to_mark();
  return status;
}

Status run_rsa(const RsaKey &key, lc_rsa_operation operation, const uint8_t *in, uint8_t *out) {
  const PkeyContext context(
      EVP_PKEY_CTX_new_from_pkey(private_library(), key.on_cpu->pkey.get(), "provider=default"));
  if (!context) return Status(LC_ERROR_MEMORY, "no memory for RSA on the CPU");
  const bool is_private = operation == LC_RSA_PRIVATE;
  if ((is_private ? EVP_PKEY_decrypt_init(context.get()) : EVP_PKEY_encrypt_init(context.get())) !=
          1 ||
      EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_NO_PADDING) != 1)
    return openssl_failed();
  size_t bytes = key.modulus_bytes;
  const int done = is_private ? EVP_PKEY_decrypt(context.get(), out, &bytes, in, key.modulus_bytes)
                              : EVP_PKEY_encrypt(context.get(), out, &bytes, in, key.modulus_bytes);
  return done == 1 && bytes == key.modulus_bytes ? Status() : openssl_failed();
}

namespace {

// Computes made^e mod n for an e that OpenSSL's public operation may reject (more than 64 bits with
// a long n).
Status raise_to_e(const RsaKey &key, const uint8_t *made, uint8_t *out) {
  const std::span<const uint8_t> n = key.numbers.n, e = key.numbers.e;
  const Number power = to_number({made, key.modulus_bytes}), modulus = to_number(n),
               exponent = to_number(e);
  const NumberContext context(BN_CTX_new_ex(private_library()));
  if (!power || !modulus || !exponent || !context)
    return Status(LC_ERROR_MEMORY, "no memory to check a result of RSA");
  const int bytes = int(key.modulus_bytes);
  const bool is_raised = BN_mod_exp_mont_consttime(power.get(), power.get(), exponent.get(),
                                                   modulus.get(), context.get(), nullptr) == 1;
  return is_raised && BN_bn2binpad(power.get(), out, bytes) == bytes ? Status() : openssl_failed();
}

}  // namespace

Result<bool> computes_back(const RsaKey &key, const uint8_t *made, const uint8_t *in) {
  secure::WipedBytes back(key.modulus_bytes);
  LC_TRY(key.exponent != 0 ? run_rsa(key, LC_RSA_PUBLIC, made, back.data())
                           : raise_to_e(key, made, back.data()));
  return std::memcmp(back.data(), in, key.modulus_bytes) == 0;
}

Status key_at_fault() {
  return Status(LC_ERROR_ARGUMENT,
                "the RSA key is at fault: its p or q is not prime, so results would be wrong");
}

}  // namespace lanecrypt::cpu
