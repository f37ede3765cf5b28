// Sets the parameters of signature contexts, and opens the default provider's contexts.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/signature_context.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <cstring>
#include <utility>

#include "provider/fallback.h"
#include "provider/program_random.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

// set_bytes() reads an octet string of at most `most` bytes. libcrypto raises the error if it
// refuses the parameter.
bool set_bytes(const OSSL_PARAM *param, uint8_t *to, size_t most, size_t &bytes) {
  void *at = to;
  if (OSSL_PARAM_get_octet_string(param, &at, most, &bytes) == 1) return true;
  bytes = 0;
  return false;
}

}  // namespace

SignatureContext::SignatureContext(const SignatureContext &from)
    : provider(from.provider),
      type(from.type),
      key(from.key == nullptr ? nullptr : from.key->take()),
      context_string(from.context_string),
      context_bytes(from.context_bytes),
      deterministic(from.deterministic),
      encoding(from.encoding),
      entropy_(from.entropy_),
      has_entropy_(from.has_entropy_) {}

SignatureContext::~SignatureContext() {
  OPENSSL_cleanse(entropy_.data(), entropy_.size());
  PqKey::release(key);
}

bool SignatureContext::begin(PqKey *of) {
  if (of == nullptr && key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  if (of != nullptr) {
    PqKey *const taken = of->take();
    PqKey::release(key);
    key = taken;
  }
  if (&key->type() != &type) return refuse(PROV_R_INVALID_KEY);
  return key->has_public() || refuse(PROV_R_MISSING_KEY);
}

bool SignatureContext::set_params(const OSSL_PARAM params[]) {
  if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kContextString);
      param != nullptr &&
      !set_bytes(param, context_string.data(), context_string.size(), context_bytes))
    return false;
  if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kTestEntropy); param != nullptr) {
    size_t bytes = 0;
    has_entropy_ = false;
    if (!set_bytes(param, entropy_.data(), type.random_bytes, bytes)) return false;
    if (bytes != type.random_bytes) return refuse(PROV_R_INVALID_SEED_LENGTH);
    has_entropy_ = true;
  }
  const std::pair<const char *, int *> numbers[] = {{kDeterministic, &deterministic},
                                                    {kMessageEncoding, &encoding}};
  for (const auto &[name, number] : numbers)
    if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, name);
        param != nullptr && !OSSL_PARAM_get_int(param, number))
      return false;
  return true;
}

bool SignatureContext::draw(uint8_t *to) const {
  if (has_entropy_) {
    std::memcpy(to, entropy_.data(), type.random_bytes);
    return true;
  }
  if (!is_deterministic()) return draw_private(provider, to, type.random_bytes);
  std::memset(to, 0, type.random_bytes);
  return true;
}

bool SignatureContext::has_room(size_t room, size_t *bytes) const {
  *bytes = type.signature_bytes;
  if (room >= *bytes) return true;
  ERR_raise_data(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL, "the signature has %zu bytes",
                 *bytes);
  return false;
}

std::unique_ptr<EVP_MD_CTX, SignatureContext::FreeHash> SignatureContext::begin_fallback(
    bool signs, const OSSL_PARAM params[], EVP_PKEY_CTX **its) const {
  std::unique_ptr<EVP_MD_CTX, FreeHash> made(EVP_MD_CTX_new());
  const auto begin_it = signs ? EVP_DigestSignInit_ex : EVP_DigestVerifyInit_ex;
  if (made != nullptr && begin_it(made.get(), its, nullptr, library_of_fallback(provider),
                                  kFallbackProperties, key->fallback(), params) != 1)
    made.reset();
  return made;
}

bool has_no_digest(const char *digest, const char *family) {
  if (digest == nullptr || *digest == '\0') return true;
  ERR_raise_data(ERR_LIB_PROV, PROV_R_INVALID_DIGEST, "%s takes no digest", family);
  return false;
}

int get_signature_params(SignatureContext &context, OSSL_PARAM params[]) {
  if (context.key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  EVP_PKEY_CTX *its = nullptr;
  const auto fallback = context.begin_fallback(false, nullptr, &its);
  return fallback != nullptr && EVP_PKEY_CTX_get_params(its, params) == 1;
}

const OSSL_PARAM *gettable_signature_params(void *, void *) {
  static const OSSL_PARAM kAll[] = {
      OSSL_PARAM_octet_string(OSSL_SIGNATURE_PARAM_ALGORITHM_ID, nullptr, 0), OSSL_PARAM_END};
  return kAll;
}

}  // namespace lanecrypt::provider
