// Imports the default provider's keys, and derives from them what devices need.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_key.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>
#include <memory>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/pq/shake256.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

const OSSL_PARAM *bytes_of(const OSSL_PARAM params[], const char *name) {
  const OSSL_PARAM *const param = OSSL_PARAM_locate_const(params, name);
  return param == nullptr || param->data == nullptr || param->data_size == 0 ? nullptr : param;
}

}  // namespace

PqKey *PqKey::around(Provider &provider, const PqType &type, EVP_PKEY *made) {
  if (made == nullptr) return nullptr;
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> its(made, EVP_PKEY_free);
  std::unique_ptr<PqKey, decltype(&release)> key(new PqKey(provider, type), release);
  return key->set_fallback(its.release()) ? key.release() : nullptr;
}

PqKey::~PqKey() {
  forget_service_key();
  lc_ml_dsa_key_free(ml_dsa_key_);
  lc_slh_dsa_key_free(slh_dsa_key_);
  EVP_PKEY_free(fallback_);
}

void PqKey::look_at(const OSSL_PARAM params[]) {
  const OSSL_PARAM *const secret = bytes_of(params, OSSL_PKEY_PARAM_PRIV_KEY);
  has_private_ = secret != nullptr;
  has_public_ = bytes_of(params, OSSL_PKEY_PARAM_PUB_KEY) != nullptr;
  // An SLH-DSA private key contains the public key.
  if (type_.family == PqFamily::kSlhDsa) has_public_ |= has_private_;
  // FIPS 204, Algorithm 24, skEncode: rho and K, 32 bytes each, and then tr. OpenSSL has checked tr
  // against the public key.
  if (type_.family != PqFamily::kMlDsa || !has_private_ || secret->data_size < 64 + tr_.size())
    return;
  std::memcpy(tr_.data(), static_cast<const uint8_t *>(secret->data) + 64, tr_.size());
  tr_state_ = Tr::kThere;
}

bool PqKey::set_fallback(EVP_PKEY *key) {
  forget_service_key();
  EVP_PKEY_free(fallback_);
  fallback_ = key;
  has_public_ = has_private_ = false;
  tr_state_ = Tr::kNone;
  constexpr auto look = [](const OSSL_PARAM params[], void *argument) {
    static_cast<PqKey *>(argument)->look_at(params);
    return 1;
  };
  return EVP_PKEY_export(key, OSSL_KEYMGMT_SELECT_KEYPAIR, called_from_c<look>, this) == 1 ||
         refuse(PROV_R_MISSING_KEY);
}

bool PqKey::copy_tr(std::array<uint8_t, 64> &to) {
  if (tr_state_.load(std::memory_order_acquire) == Tr::kThere) {
    to = tr_;
    return true;
  }
  struct Hashing {
    Shake256 hash;
    std::array<uint8_t, 64> &to;
  } hashing{Shake256(provider_), to};
  constexpr auto hash = [](const OSSL_PARAM params[], void *argument) {
    Hashing &of = *static_cast<Hashing *>(argument);
    const OSSL_PARAM *const open = bytes_of(params, OSSL_PKEY_PARAM_PUB_KEY);
    if (open == nullptr) return int(refuse(PROV_R_MISSING_KEY));
    return of.hash.take(open->data, open->data_size) && of.hash.give(of.to) ? 1 : 0;
  };
  if (EVP_PKEY_export(fallback_, OSSL_KEYMGMT_SELECT_PUBLIC_KEY, called_from_c<hash>, &hashing) !=
      1)
    return false;
  Tr none = Tr::kNone;
  if (tr_state_.compare_exchange_strong(none, Tr::kWriting)) {
    tr_ = to;
    tr_state_.store(Tr::kThere, std::memory_order_release);
  }
  return true;
}

bool PqKey::copy_to_library(const OSSL_PARAM params[]) {
  const OSSL_PARAM *const secret = bytes_of(params, OSSL_PKEY_PARAM_PRIV_KEY);
  if (secret == nullptr) return false;
  if (type_.family == PqFamily::kSlhDsa) {
    lc_slh_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = lc_slh_dsa_set(type_.set);
    parts.private_key = secret->data;
    parts.private_key_bytes = secret->data_size;
    return lc_slh_dsa_key_new(&parts, &slh_dsa_key_) == LC_OK;
  }
  const auto set = lc_ml_dsa_set(type_.set);
  const OSSL_PARAM *const open = bytes_of(params, OSSL_PKEY_PARAM_PUB_KEY);
  if (open == nullptr || secret->data_size != lc_ml_dsa_bytes(set, LC_ML_DSA_PRIVATE_KEY) ||
      open->data_size != lc_ml_dsa_bytes(set, LC_ML_DSA_PUBLIC_KEY))
    return false;
  lc_ml_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = set;
  parts.private_key = secret->data;
  parts.public_key = open->data;
  return lc_ml_dsa_key_new(&parts, &ml_dsa_key_) == LC_OK;
}

bool PqKey::make_for_device() {
  std::call_once(once_, [this] {
    if (!has_private_ || provider_.devices() == nullptr) return;
    const ErrorMark mark;
    constexpr auto copy = [](const OSSL_PARAM params[], void *argument) {
      return static_cast<PqKey *>(argument)->copy_to_library(params) ? 1 : 0;
    };
    EVP_PKEY_export(fallback_, OSSL_KEYMGMT_SELECT_KEYPAIR, called_from_c<copy>, this);
  });
  if (ml_dsa_key_ != nullptr || slh_dsa_key_ != nullptr) return true;
  is_unfit_.store(true, std::memory_order_relaxed);
  return false;
}

EVP_PKEY *make_fallback_pq_key(Provider &provider, const PqType &type, int selection,
                               const OSSL_PARAM params[]) {
  if (fallback_pq_keymgmt(provider, size_t(&type - kPqTypes)) == nullptr) return nullptr;
  const unsigned long before = ERR_peek_last_error();
  EVP_PKEY_CTX *const context =
      EVP_PKEY_CTX_new_from_name(library_of_fallback(provider), type.name, kFallbackProperties);
  EVP_PKEY *key = nullptr;
  if (context != nullptr && EVP_PKEY_fromdata_init(context) == 1 &&
      EVP_PKEY_fromdata(context, &key, selection, const_cast<OSSL_PARAM *>(params)) != 1) {
    EVP_PKEY_free(key);
    key = nullptr;
  }
  if (key == nullptr) say_why(before, PROV_R_INVALID_KEY);
  EVP_PKEY_CTX_free(context);
  return key;
}

}  // namespace lanecrypt::provider
