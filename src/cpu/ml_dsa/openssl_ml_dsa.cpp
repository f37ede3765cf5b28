// SPDX-License-Identifier: Apache-2.0
#include "cpu/ml_dsa/openssl_ml_dsa.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "cpu/openssl_object.h"

namespace lanecrypt::cpu {

struct OpensslMlDsaKey {
  Pkey key;
};

namespace {

using HashContext = Object<EVP_MD_CTX, EVP_MD_CTX_free>;

// Parameter names that the headers of OpenSSL 3.0 do not have.
constexpr char kMu[] = "mu", kTestEntropy[] = "test-entropy";

OSSL_PARAM bytes_param(const char *name, std::span<const uint8_t> bytes) {
  return {name, OSSL_PARAM_OCTET_STRING, const_cast<uint8_t *>(bytes.data()), bytes.size(), 0};
}

bool libcrypto_has_ml_dsa() {
  return 100 * OPENSSL_version_major() + OPENSSL_version_minor() >= 305;
}

// `Unheard` discards OpenSSL's errors: the caller of the library has not called OpenSSL and must
// not find errors in its queue.
class Unheard {
 public:
  Unheard() { ERR_set_mark(); }
  ~Unheard() { ERR_pop_to_mark(); }
  Unheard(const Unheard &) = delete;
};

}  // namespace

std::shared_ptr<const OpensslMlDsaKey> openssl_ml_dsa_key(const MlDsaKey &key) {
  if (!libcrypto_has_ml_dsa()) return nullptr;
  const Unheard unheard;
  const PkeyContext context(EVP_PKEY_CTX_new_from_name(private_library(), key.sizes.name, nullptr));
  OSSL_PARAM params[] = {bytes_param(OSSL_PKEY_PARAM_PUB_KEY, key.public_key()), OSSL_PARAM_END,
                         OSSL_PARAM_END};
  if (key.is_private) params[1] = bytes_param(OSSL_PKEY_PARAM_PRIV_KEY, key.private_key());
  const int selection = key.is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
  EVP_PKEY *made = nullptr;
  if (!context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, selection, params) != 1)
    return nullptr;
  return std::make_shared<OpensslMlDsaKey>(OpensslMlDsaKey{Pkey(made)});
}

Status openssl_ml_dsa_sign(const OpensslMlDsaKey &key, std::span<const uint8_t> mu,
                           std::span<const uint8_t> random, std::span<uint8_t> signature) {
  const Unheard unheard;
  const HashContext context(EVP_MD_CTX_new());
  int is_mu = 1;
  const OSSL_PARAM params[] = {{kMu, OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0},
                               bytes_param(kTestEntropy, random),
                               OSSL_PARAM_END};
  size_t bytes = signature.size();
  if (!context ||
      EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, private_library(), nullptr,
                            key.key.get(), params) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &bytes, mu.data(), mu.size()) != 1 ||
      bytes != signature.size())
    return openssl_failed();
  return Status();
}

Result<uint8_t> openssl_ml_dsa_verify(const OpensslMlDsaKey &key, std::span<const uint8_t> mu,
                                      std::span<const uint8_t> signature) {
  const Unheard unheard;
  const HashContext context(EVP_MD_CTX_new());
  int is_mu = 1;
  const OSSL_PARAM params[] = {{kMu, OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0}, OSSL_PARAM_END};
  if (!context || EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, private_library(),
                                          nullptr, key.key.get(), params) != 1)
    return openssl_failed();
  return uint8_t(EVP_DigestVerify(context.get(), signature.data(), signature.size(), mu.data(),
                                  mu.size()) == 1);
}

}  // namespace lanecrypt::cpu
