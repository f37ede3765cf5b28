// Imports the default provider's RSA keys, and derives from them what devices need.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_key.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <bit>
#include <new>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/program_random.h"
#include "provider/rsa/rsa_numbers.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {
namespace {

// The numbers of a private key of two primes, in the order in which make_device_key() stores them.
constexpr const char *kStoredParts[] = {
    OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
    OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_FACTOR1,
    OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
    OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
};
constexpr size_t kPartCount = std::size(kStoredParts);

struct Modulus {
  std::vector<uint8_t> &bytes;
  bool had_memory = true;
};

int read_modulus(const OSSL_PARAM params[], void *argument) noexcept {
  const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_RSA_N);
  if (param == nullptr) return 1;
  Modulus &modulus = *static_cast<Modulus *>(argument);
  std::vector<uint8_t> &bytes = modulus.bytes;
  try {
    bytes.resize(param->data_size);
    if (!write_number(*param, bytes.data(), bytes.size())) return 0;
    bytes.erase(bytes.begin(),
                std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != 0; }));
    return 1;
  } catch (const std::bad_alloc &) {
    modulus.had_memory = false;
    return 0;
  }
}

struct Making {
  Provider &provider;
  size_t modulus_bytes;
  RsaDeviceKey &made;
};

int make_device_key(const OSSL_PARAM params[], void *argument) {
  Making &making = *static_cast<Making *>(argument);
  if (OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_RSA_FACTOR3) != nullptr) return 0;
  const size_t bytes = making.modulus_bytes;
  secure::KeyMemory memory(kPartCount * bytes);
  if (!memory.ok(kPartCount * bytes)) return 0;
  lc_number numbers[kPartCount];
  for (size_t part = 0; part < kPartCount; ++part) {
    const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kStoredParts[part]);
    uint8_t *place = memory.data() + part * bytes;
    if (param == nullptr || !write_number(*param, place, bytes)) return 0;
    numbers[part] = {.bytes = place, .length = bytes};
  }
  EVP_MD *sha256 =
      EVP_MD_fetch(library_of_fallback(making.provider), "SHA256", kFallbackProperties);
  EVP_MD_CTX *hash = EVP_MD_CTX_new();
  const bool hashed = sha256 != nullptr && hash != nullptr &&
                      EVP_DigestInit_ex2(hash, sha256, nullptr) &&
                      EVP_DigestUpdate(hash, numbers[2].bytes, bytes) &&
                      EVP_DigestFinal_ex(hash, making.made.exponent_hash, nullptr);
  EVP_MD_CTX_free(hash);
  EVP_MD_free(sha256);
  if (!hashed) return 0;

  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.n = numbers[0];
  parts.e = numbers[1];
  parts.d = numbers[2];
  parts.p = numbers[3];
  parts.q = numbers[4];
  parts.dp = numbers[5];
  parts.dq = numbers[6];
  parts.qinv = numbers[7];
  parts.random = [](void *provider, void *to, size_t wanted) noexcept {
    const ErrorMark mark;  // the CPU goes on without
    return draw_private(*static_cast<Provider *>(provider), static_cast<uint8_t *>(to), wanted) ? 1
                                                                                                : 0;
  };
  parts.argument = &making.provider;
  return lc_rsa_key_new(&parts, &making.made.key) == LC_OK ? 1 : 0;
}

}  // namespace

const char *name_of(RsaType type) { return type == RsaType::kRsa ? "RSA" : "RSA-PSS"; }

RsaDeviceKey::~RsaDeviceKey() {
  lc_rsa_key_free(key);
  OPENSSL_cleanse(exponent_hash, sizeof exponent_hash);
}

RsaKey::~RsaKey() {
  forget_service_key();
  EVP_PKEY_free(fallback_);
}

void RsaKey::set_fallback(EVP_PKEY *key) {
  forget_service_key();
  EVP_PKEY_free(fallback_);
  fallback_ = key;
  modulus_.clear();
  bits_ = 0;
  least_salt_bytes_ = -1;
  // A key with parameters only has no modulus. That is no error.
  const ErrorMark mark;
  Modulus modulus{modulus_};
  EVP_PKEY_export(key, OSSL_KEYMGMT_SELECT_PUBLIC_KEY, read_modulus, &modulus);
  // Without its modulus, the key would be taken for one with parameters only.
  if (!modulus.had_memory) throw std::bad_alloc();
  if (!modulus_.empty()) bits_ = 8 * modulus_.size() - size_t(std::countl_zero(modulus_[0]));
  if (type_ == RsaType::kRsaPss) {
    int salt_bytes = -1;
    OSSL_PARAM params[] = {{OSSL_PKEY_PARAM_RSA_PSS_SALTLEN, OSSL_PARAM_INTEGER, &salt_bytes,
                            sizeof salt_bytes, OSSL_PARAM_UNMODIFIED},
                           OSSL_PARAM_END};
    if (EVP_PKEY_get_params(key, params) && params[0].return_size != OSSL_PARAM_UNMODIFIED)
      least_salt_bytes_ = salt_bytes;
  }
}

RsaKey::Parts RsaKey::parts(int selection) const {
  Parts found;
  const auto look = [](const OSSL_PARAM params[], void *argument) noexcept {
    Parts &what = *static_cast<Parts *>(argument);
    what.is_public = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_RSA_E) != nullptr;
    what.is_private = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_RSA_D) != nullptr;
    return 1;
  };
  const ErrorMark mark;
  if (fallback_ != nullptr) EVP_PKEY_export(fallback_, selection, look, &found);
  return found;
}

const RsaDeviceKey *RsaKey::for_device() {
  std::call_once(once_, [this] {
    if (fallback_ == nullptr || bits_ == 0 || bytes() > kMostRsaBytes) return;
    if (provider_.devices() == nullptr) return;
    const ErrorMark mark;
    Making making{provider_, bytes(), device_key_};
    EVP_PKEY_export(fallback_, OSSL_KEYMGMT_SELECT_KEYPAIR, called_from_c<make_device_key>,
                    &making);
  });
  if (device_key_.key != nullptr) return &device_key_;
  is_unfit_.store(true, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace lanecrypt::provider
