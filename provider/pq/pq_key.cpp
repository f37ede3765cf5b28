// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_key.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "provider/fallback.h"
#include "provider/pq/shake256.h"

namespace lanecrypt::provider {
namespace {

const OSSL_PARAM *bytes_of(const OSSL_PARAM params[], const char *name) {
  const OSSL_PARAM *const param = OSSL_PARAM_locate_const(params, name);
  return param == nullptr || param->data == nullptr || param->data_size == 0 ? nullptr : param;
}

struct Making {
  lc_ml_dsa_set set;
  lc_ml_dsa_key *made;
};

int make_device_key(const OSSL_PARAM params[], void *argument) {
  Making &making = *static_cast<Making *>(argument);
  const OSSL_PARAM *const secret = bytes_of(params, OSSL_PKEY_PARAM_PRIV_KEY);
  const OSSL_PARAM *const open = bytes_of(params, OSSL_PKEY_PARAM_PUB_KEY);
  if (secret == nullptr || open == nullptr ||
      secret->data_size != lc_ml_dsa_bytes(making.set, LC_ML_DSA_PRIVATE_KEY) ||
      open->data_size != lc_ml_dsa_bytes(making.set, LC_ML_DSA_PUBLIC_KEY))
    return 0;
  lc_ml_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = making.set;
  parts.private_key = secret->data;
  parts.public_key = open->data;
  return lc_ml_dsa_key_new(&parts, &making.made) == LC_OK ? 1 : 0;
}

}  // namespace

PqKey::~PqKey() {
  lc_ml_dsa_key_free(device_key_);
  EVP_PKEY_free(fallback_);
}

bool PqKey::look_at(const OSSL_PARAM params[]) {
  const OSSL_PARAM *const open = bytes_of(params, OSSL_PKEY_PARAM_PUB_KEY);
  has_public_ = open != nullptr;
  has_private_ = bytes_of(params, OSSL_PKEY_PARAM_PRIV_KEY) != nullptr;
  if (!has_public_) return true;
  Shake256 hash(provider_);
  return hash.take(open->data, open->data_size) && hash.give(tr_);
}

bool PqKey::set_fallback(EVP_PKEY *key) {
  EVP_PKEY_free(fallback_);
  fallback_ = key;
  has_public_ = has_private_ = false;
  const auto look = [](const OSSL_PARAM params[], void *argument) {
    return static_cast<PqKey *>(argument)->look_at(params) ? 1 : 0;
  };
  return EVP_PKEY_export(key, OSSL_KEYMGMT_SELECT_KEYPAIR, look, this) == 1;
}

const lc_ml_dsa_key *PqKey::for_device() {
  std::call_once(once_, [this] {
    if (!has_private_ || provider_.devices() == nullptr) return;
    const ErrorMark mark;
    Making making{type_.set, nullptr};
    EVP_PKEY_export(fallback_, OSSL_KEYMGMT_SELECT_KEYPAIR, make_device_key, &making);
    device_key_ = making.made;
  });
  if (device_key_ == nullptr) is_unfit_.store(true, std::memory_order_relaxed);
  return device_key_;
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
