// Forwards the default provider's TLS-SIGALG capabilities of ML-DSA.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <cstring>

#include "provider/fallback.h"
#include "provider/pq/pq_key.h"
#include "provider/pq/pq_operations.h"

namespace lanecrypt::provider {
namespace {

// OSSL_CAPABILITY_TLS_SIGALG_NAME, which OpenSSL 3.0's headers do not define.
constexpr char kSigalgName[] = "tls-sigalg-name";

struct Telling {
  OSSL_CALLBACK *callback;
  void *argument;
};

int forward_capability(const OSSL_PARAM params[], void *pointer) noexcept {
  const Telling &telling = *static_cast<Telling *>(pointer);
  const OSSL_PARAM *const name = OSSL_PARAM_locate_const(params, kSigalgName);
  if (name == nullptr || name->data == nullptr) return 1;
  for (const PqType &type : kPqTypes)
    if (type.family == PqFamily::kMlDsa &&
        std::strcmp(static_cast<const char *>(name->data), type.name) == 0)
      return telling.callback(params, telling.argument);
  return 1;
}

}  // namespace

bool libcrypto_has_pq() { return 100 * OPENSSL_version_major() + OPENSSL_version_minor() >= 305; }

int tell_tls_sigalgs(Provider &provider, OSSL_CALLBACK *callback, void *argument) {
  const OSSL_PROVIDER *its = default_provider(library_of_fallback(provider));
  if (its == nullptr && load_fallback_provider(provider)) its = default_provider(provider.fallback);
  if (its == nullptr) return 1;
  Telling telling{callback, argument};
  return OSSL_PROVIDER_get_capabilities(its, "TLS-SIGALG", forward_capability, &telling);
}

}  // namespace lanecrypt::provider
