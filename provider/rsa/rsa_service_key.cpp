// Exports RSA private keys for the service, and checks the service's results.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_service_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>

#include "process/cancellation.h"
#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/rsa/rsa_numbers.h"

namespace lanecrypt::provider {
namespace {

// The numbers that are sent, in the order of service::KeyPart. The private exponent is not sent.
constexpr const char *kSentParts[] = {
    OSSL_PKEY_PARAM_RSA_N,
    OSSL_PKEY_PARAM_RSA_E,
    OSSL_PKEY_PARAM_RSA_FACTOR1,
    OSSL_PKEY_PARAM_RSA_FACTOR2,
    OSSL_PKEY_PARAM_RSA_EXPONENT1,
    OSSL_PKEY_PARAM_RSA_EXPONENT2,
    OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
};
static_assert(std::size(kSentParts) == service::kD);

// number_of() returns the parameter, or nullptr if it is missing or empty.
const OSSL_PARAM *number_of(const OSSL_PARAM params[], const char *name) {
  const OSSL_PARAM *const param = OSSL_PARAM_locate_const(params, name);
  return param == nullptr || param->data == nullptr || param->data_size == 0 ? nullptr : param;
}

struct Copy {
  client::KeyNumbers &to;
  size_t modulus_bytes;
};

int copy(const OSSL_PARAM params[], void *argument) {
  const auto &[to, modulus_bytes] = *static_cast<Copy *>(argument);
  const OSSL_PARAM *numbers[service::kD];
  size_t lengths[service::kD], bytes = 0;
  for (size_t n = 0; n < service::kD; ++n) {
    numbers[n] = number_of(params, kSentParts[n]);
    if (numbers[n] == nullptr) return 0;
    lengths[n] = n == service::kN ? modulus_bytes : std::min(numbers[n]->data_size, modulus_bytes);
    bytes += lengths[n];
  }
  to.memory = secure::KeyMemory(bytes);
  if (!to.memory.ok(bytes)) return 0;
  uint8_t *at = to.memory.data();
  for (size_t n = 0; n < service::kD; ++n) {
    if (!write_number(*numbers[n], at, lengths[n])) return 0;
    to.parts[n] = {at, lengths[n]};
    at += lengths[n];
  }
  return 1;
}

bool hash(Provider &provider, const uint8_t *bytes, size_t count, uint8_t *to) {
  EVP_MD *sha256 = EVP_MD_fetch(library_of_fallback(provider), "SHA256", kFallbackProperties);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  const bool done =
      sha256 != nullptr && context != nullptr && EVP_DigestInit_ex2(context, sha256, nullptr) &&
      EVP_DigestUpdate(context, bytes, count) && EVP_DigestFinal_ex(context, to, nullptr);
  EVP_MD_CTX_free(context);
  EVP_MD_free(sha256);
  return done;
}

struct FreeNumber {
  void operator()(BIGNUM *number) const { BN_clear_free(number); }
};
using Number = std::unique_ptr<BIGNUM, FreeNumber>;

Number number_from(std::span<const uint8_t> bytes) {
  return Number(BN_bin2bn(bytes.data(), int(bytes.size()), nullptr));
}

}  // namespace

RsaServiceKey::~RsaServiceKey() { OPENSSL_cleanse(exponent_hash_, sizeof exponent_hash_); }

int RsaServiceKey::read(const OSSL_PARAM params[]) {
  if (OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_RSA_FACTOR3) != nullptr) return 0;
  for (const char *name : kSentParts)
    if (number_of(params, name) == nullptr) return 0;
  const OSSL_PARAM *const e = number_of(params, OSSL_PKEY_PARAM_RSA_E);
  const OSSL_PARAM *const d = number_of(params, OSSL_PKEY_PARAM_RSA_D);
  if (d == nullptr) return 0;
  public_exponent_.resize(e->data_size);
  const size_t bytes = key_.bytes();
  secure::KeyMemory exponent(bytes);
  return write_number(*e, public_exponent_.data(), public_exponent_.size()) && exponent.ok(bytes) &&
         write_number(*d, exponent.data(), bytes) &&
         hash(key_.provider(), exponent.data(), bytes, exponent_hash_);
}

bool RsaServiceKey::read() {
  constexpr auto take = [](const OSSL_PARAM params[], void *key) {
    return static_cast<RsaServiceKey *>(key)->read(params);
  };
  const ErrorMark mark;
  return EVP_PKEY_export(key_.fallback(), OSSL_KEYMGMT_SELECT_KEYPAIR, called_from_c<take>, this) ==
         1;
}

bool RsaServiceKey::copy_numbers(client::KeyNumbers &to) const {
  Copy what{to, key_.bytes()};
  const ErrorMark mark;
  return EVP_PKEY_export(key_.fallback(), OSSL_KEYMGMT_SELECT_KEYPAIR, called_from_c<copy>,
                         &what) == 1;
}

bool RsaServiceKey::is_result(std::span<const uint8_t> in, std::span<const uint8_t> out) const {
  const ErrorMark mark;
  const std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)> context(
      BN_CTX_new_ex(library_of_fallback(key_.provider())), BN_CTX_free);
  const Number n = number_from({key_.modulus(), key_.bytes()});
  const Number e = number_from(public_exponent_), given = number_from(in);
  const Number result = number_from(out);
  const Number back(BN_new());
  return context && n && e && given && result && back && BN_cmp(result.get(), n.get()) < 0 &&
         BN_mod_exp_mont(back.get(), result.get(), e.get(), n.get(), context.get(), nullptr) &&
         BN_cmp(back.get(), given.get()) == 0;
}

RsaServiceKey *RsaKey::for_service() {
  RsaServiceKey *current = service_key_.load(std::memory_order_acquire);
  if (current != nullptr) return current->is_refused() ? nullptr : current;
  if (fallback_ == nullptr || bits_ == 0 || bytes() > kMostRsaBytes || !may_suit_device())
    return nullptr;
  auto made = std::make_unique<RsaServiceKey>(*this);
  if (!made->read()) {
    is_unfit_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  if (service_key_.compare_exchange_strong(current, made.get(), std::memory_order_acq_rel))
    return made.release();
  return current;
}

void RsaKey::forget_service_key() {
  const std::unique_ptr<RsaServiceKey> key(service_key_.exchange(nullptr));
  if (key == nullptr || !provider_.may_use_service()) return;
  const process::CancellationOff not_cancelled;
  try {
    const auto session = provider_.service().here().session();
    if (session != nullptr) key->forget_in(*session);
    // a child of fork() without a connection, and so without a session
  } catch (const std::bad_alloc &) {
  }
}

}  // namespace lanecrypt::provider
