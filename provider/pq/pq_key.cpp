// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_key.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/pq/shake256.h"

namespace lanecrypt::provider {
namespace {

const OSSL_PARAM *bytes_of(const OSSL_PARAM params[], const char *name) {
  const OSSL_PARAM *const param = OSSL_PARAM_locate_const(params, name);
  return param == nullptr || param->data == nullptr || param->data_size == 0 ? nullptr : param;
}

}  // namespace

PqKey::~PqKey() {
  forget_service_key();
  lc_ml_dsa_key_free(ml_dsa_key_);
  lc_slh_dsa_key_free(slh_dsa_key_);
  EVP_PKEY_free(fallback_);
}

bool PqKey::look_at(const OSSL_PARAM params[]) {
  const OSSL_PARAM *const open = bytes_of(params, OSSL_PKEY_PARAM_PUB_KEY);
  has_private_ = bytes_of(params, OSSL_PKEY_PARAM_PRIV_KEY) != nullptr;
  if (type_.family == PqFamily::kSlhDsa) {
    // A private key has the public one in it.
    has_public_ = open != nullptr || has_private_;
    return true;
  }
  has_public_ = open != nullptr;
  if (!has_public_) return true;
  Shake256 hash(provider_);
  return hash.take(open->data, open->data_size) && hash.give(tr_);
}

bool PqKey::set_fallback(EVP_PKEY *key) {
  forget_service_key();
  EVP_PKEY_free(fallback_);
  fallback_ = key;
  has_public_ = has_private_ = false;
  constexpr auto look = [](const OSSL_PARAM params[], void *argument) {
    return static_cast<PqKey *>(argument)->look_at(params) ? 1 : 0;
  };
  return EVP_PKEY_export(key, OSSL_KEYMGMT_SELECT_KEYPAIR, called_from_c<look>, this) == 1;
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
  EVP_PKEY_CTX *const context =
      EVP_PKEY_CTX_new_from_name(library_of_fallback(provider), type.name, kFallbackProperties);
  EVP_PKEY *key = nullptr;
  if (context != nullptr && EVP_PKEY_fromdata_init(context) == 1 &&
      EVP_PKEY_fromdata(context, &key, selection, const_cast<OSSL_PARAM *>(params)) != 1) {
    EVP_PKEY_free(key);
    key = nullptr;
  }
  EVP_PKEY_CTX_free(context);
  return key;
}

}  // namespace lanecrypt::provider
