// Signatures of ML-DSA as OpenSSL's core sees them. Every message becomes mu here (FIPS 204,
// algorithms 2, 3, 7 and 8). A device or the default provider signs it, and the default provider
// verifies.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/proverr.h>
#include <openssl/rand.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "provider/fallback.h"
#include "provider/pq/ml_dsa_device.h"
#include "provider/pq/pq_key.h"
#include "provider/pq/pq_operations.h"
#include "provider/pq/shake256.h"

namespace lanecrypt::provider {
namespace {

// Names and numbers that 3.0's headers have not.
constexpr char kContextString[] = "context-string", kTestEntropy[] = "test-entropy";
constexpr char kDeterministic[] = "deterministic", kMu[] = "mu";
constexpr char kMessageEncoding[] = "message-encoding", kSignature[] = "signature";
constexpr int kSignMessageInit = 27, kSignMessageUpdate = 28, kSignMessageFinal = 29;
constexpr int kVerifyMessageInit = 30, kVerifyMessageUpdate = 31, kVerifyMessageFinal = 32;

struct SignatureContext {
  Provider *provider;
  const PqType *type;
  PqKey *key = nullptr;
  std::array<uint8_t, 255> context_string;
  size_t context_bytes = 0;
  MlDsaInput entropy;  // its random part, if has_entropy
  bool has_entropy = false;
  int deterministic = 0, encoding = 1, is_mu = 0;
  Shake256 message;                // of a message that comes in pieces
  std::vector<uint8_t> signature;  // to verify it
};

SignatureContext &context_of(void *pointer) { return *static_cast<SignatureContext *>(pointer); }

template <size_t kType>
void *new_context(void *provider, const char *) {
  SignatureContext *const context = new (std::nothrow) SignatureContext;
  if (context == nullptr) return nullptr;
  context->provider = static_cast<Provider *>(provider);
  context->type = &kPqTypes[kType];
  return context;
}

void free_context(void *pointer) {
  SignatureContext *context = static_cast<SignatureContext *>(pointer);
  if (context == nullptr) return;
  OPENSSL_cleanse(&context->entropy, sizeof context->entropy);
  PqKey::release(context->key);
  delete context;
}

void *copy_context(void *pointer) {
  const SignatureContext &from = context_of(pointer);
  SignatureContext *copy = nullptr;
  try {
    copy = new SignatureContext;
    copy->signature = from.signature;
  } catch (const std::bad_alloc &) {
    delete copy;
    return nullptr;
  }
  copy->provider = from.provider;
  copy->type = from.type;
  if (from.key != nullptr) copy->key = from.key->take();
  copy->context_string = from.context_string;
  copy->context_bytes = from.context_bytes;
  copy->entropy = from.entropy;
  copy->has_entropy = from.has_entropy;
  copy->deterministic = from.deterministic;
  copy->encoding = from.encoding;
  copy->is_mu = from.is_mu;
  copy->message = from.message.copy();
  if (bool(copy->message) == bool(from.message)) return copy;
  free_context(copy);
  return nullptr;
}

// ---- Parameters ------------------------------------------------------------

bool set_bytes(const OSSL_PARAM *param, uint8_t *to, size_t most, size_t &bytes) {
  bytes = 0;
  if (param->data_type != OSSL_PARAM_OCTET_STRING || param->data_size > most ||
      (param->data == nullptr && param->data_size != 0))
    return false;
  if (param->data_size != 0) std::memcpy(to, param->data, param->data_size);
  bytes = param->data_size;
  return true;
}

int set_params(void *pointer, const OSSL_PARAM params[]) {
  if (pointer == nullptr) return 0;
  if (params == nullptr) return 1;
  SignatureContext &context = context_of(pointer);
  if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kContextString);
      param != nullptr && !set_bytes(param, context.context_string.data(),
                                     context.context_string.size(), context.context_bytes))
    return 0;
  if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kTestEntropy); param != nullptr) {
    size_t bytes = 0;
    context.has_entropy = false;
    if (!set_bytes(param, context.entropy.random(), kMlDsaRandomBytes, bytes)) return 0;
    if (bytes != kMlDsaRandomBytes) {
      ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_SEED_LENGTH);
      return 0;
    }
    context.has_entropy = true;
  }
  const std::pair<const char *, int SignatureContext::*> numbers[] = {
      {kDeterministic, &SignatureContext::deterministic},
      {kMessageEncoding, &SignatureContext::encoding},
      {kMu, &SignatureContext::is_mu}};
  for (const auto &[name, field] : numbers)
    if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, name);
        param != nullptr && !OSSL_PARAM_get_int(param, &(context.*field)))
      return 0;
  if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kSignature); param != nullptr) {
    if (param->data_type != OSSL_PARAM_OCTET_STRING || param->data == nullptr) return 0;
    const auto *from = static_cast<const uint8_t *>(param->data);
    try {
      context.signature.assign(from, from + param->data_size);
    } catch (const std::bad_alloc &) {
      return 0;
    }
  }
  return 1;
}

#define BYTES(name) OSSL_PARAM_octet_string(name, nullptr, 0)
#define NUMBER(name) OSSL_PARAM_int(name, nullptr)
const OSSL_PARAM *settable_params(void *, void *) {
  static const OSSL_PARAM kAll[] = {
      BYTES(kContextString),    BYTES(kTestEntropy), NUMBER(kDeterministic), NUMBER(kMu),
      NUMBER(kMessageEncoding), BYTES(kSignature),   OSSL_PARAM_END};
  return kAll;
}
const OSSL_PARAM *gettable_params(void *, void *) {
  static const OSSL_PARAM kAll[] = {BYTES(OSSL_SIGNATURE_PARAM_ALGORITHM_ID), OSSL_PARAM_END};
  return kAll;
}
#undef BYTES
#undef NUMBER

// ---- The default provider's part -------------------------------------------

struct FreeHash {
  void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};

// Begins with the default provider's key. `its` is the context for parameters.
std::unique_ptr<EVP_MD_CTX, FreeHash> begin_fallback(SignatureContext &context, bool signs,
                                                     const OSSL_PARAM params[],
                                                     EVP_PKEY_CTX **its = nullptr) {
  std::unique_ptr<EVP_MD_CTX, FreeHash> made(EVP_MD_CTX_new());
  const auto begin = signs ? EVP_DigestSignInit_ex : EVP_DigestVerifyInit_ex;
  if (made != nullptr && begin(made.get(), its, nullptr, library_of_fallback(*context.provider),
                               kFallbackProperties, context.key->fallback(), params) != 1)
    made.reset();
  return made;
}

int sign_on_cpu(SignatureContext &context, MlDsaInput &in, uint8_t *signature, size_t *bytes) {
  int is_mu = 1;
  const OSSL_PARAM params[] = {
      {kMu, OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0},
      {kTestEntropy, OSSL_PARAM_OCTET_STRING, in.random(), kMlDsaRandomBytes, 0},
      OSSL_PARAM_END};
  const auto fallback = begin_fallback(context, true, params);
  return fallback != nullptr &&
         EVP_DigestSign(fallback.get(), signature, bytes, in.mu(), kMlDsaMuBytes) == 1;
}

int verify_mu(SignatureContext &context, const uint8_t *mu, const uint8_t *signature,
              size_t bytes) {
  int is_mu = 1;
  const OSSL_PARAM params[] = {{kMu, OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0}, OSSL_PARAM_END};
  const auto fallback = begin_fallback(context, false, params);
  return fallback != nullptr &&
         EVP_DigestVerify(fallback.get(), signature, bytes, mu, kMlDsaMuBytes) == 1;
}

int get_params(void *pointer, OSSL_PARAM params[]) {
  SignatureContext &context = context_of(pointer);
  if (context.key == nullptr) return 0;
  EVP_PKEY_CTX *its = nullptr;
  const auto fallback = begin_fallback(context, false, nullptr, &its);
  return fallback != nullptr && EVP_PKEY_CTX_get_params(its, params) == 1;
}

// ---- Beginning ------------------------------------------------------------

int begin(void *pointer, void *key, const OSSL_PARAM params[]) {
  SignatureContext &context = context_of(pointer);
  if (key == nullptr && context.key == nullptr) {
    ERR_raise(ERR_LIB_PROV, PROV_R_NO_KEY_SET);
    return 0;
  }
  if (key != nullptr) {
    PqKey *const taken = static_cast<PqKey *>(key)->take();
    PqKey::release(context.key);
    context.key = taken;
  }
  if (&context.key->type() != context.type || !context.key->has_public()) return 0;
  context.is_mu = 0;
  context.message = Shake256();
  context.signature.clear();
  return set_params(pointer, params);
}

int begin_digest(void *pointer, const char *digest, void *key, const OSSL_PARAM params[]) {
  if (digest != nullptr && *digest != '\0') {
    ERR_raise_data(ERR_LIB_PROV, PROV_R_INVALID_DIGEST,
                   "Explicit digest not supported for ML-DSA operations");
    return 0;
  }
  return begin(pointer, key, params);
}

// ---- Messages --------------------------------------------------------------

// What precedes the message.
bool begin_message(SignatureContext &context) {
  context.message = Shake256(*context.provider);
  const auto &tr = context.key->tr();
  if (!context.message.take(tr.data(), tr.size())) return false;
  if (context.encoding == 0) return true;
  const uint8_t head[] = {0, uint8_t(context.context_bytes)};
  return context.message.take(head, sizeof head) &&
         context.message.take(context.context_string.data(), context.context_bytes);
}

int update(void *pointer, const unsigned char *data, size_t bytes) {
  SignatureContext &context = context_of(pointer);
  // mu is no message.
  if (context.key == nullptr || context.is_mu != 0) return 0;
  if (!context.message && !begin_message(context)) return 0;
  return context.message.take(data, bytes);
}

bool finish_message(SignatureContext &context, uint8_t *mu) {
  std::array<uint8_t, kMlDsaMuBytes> made;
  if (!context.message.give(made)) return false;
  std::memcpy(mu, made.data(), made.size());
  return true;
}

bool make_mu(SignatureContext &context, const unsigned char *in, size_t in_bytes, uint8_t *mu) {
  if (context.is_mu != 0) {
    if (in_bytes != kMlDsaMuBytes) {
      ERR_raise(ERR_LIB_PROV, PROV_R_BAD_LENGTH);
      return false;
    }
    std::memcpy(mu, in, in_bytes);
    return true;
  }
  return begin_message(context) && context.message.take(in, in_bytes) &&
         finish_message(context, mu);
}

// ---- Signing and verifying --------------------------------------------------

// mu is in `in`.
int sign_mu(SignatureContext &context, MlDsaInput &in, uint8_t *signature, size_t *bytes) {
  if (context.has_entropy)
    std::memcpy(in.random(), context.entropy.random(), kMlDsaRandomBytes);
  else if (context.deterministic == 1)
    std::memset(in.random(), 0, kMlDsaRandomBytes);
  else if (RAND_priv_bytes_ex(context.provider->program, in.random(), kMlDsaRandomBytes, 0) <= 0)
    return 0;
  MlDsaOperation operation(*context.key);
  if (!operation.may_go_on()) return 0;
  if (operation.is_for_device()) {
    const std::span<uint8_t> out(signature, context.type->signature_bytes);
    switch (operation.run(in, out)) {
      case MlDsaOperation::Taken::kDone:
        *bytes = out.size();
        return 1;
      case MlDsaOperation::Taken::kFailed:
        return 0;
      case MlDsaOperation::Taken::kNotTaken:
        break;
    }
  }
  return operation.note(sign_on_cpu(context, in, signature, bytes));
}

// Signs the message that make() gives the mu of.
template <typename MakeMu>
int sign_with(SignatureContext &context, unsigned char *signature, size_t *bytes, size_t room,
              const MakeMu &make) {
  if (context.key == nullptr) return 0;
  *bytes = context.type->signature_bytes;
  if (signature == nullptr) return 1;
  if (room < *bytes) {
    ERR_raise_data(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL, "the signature has %zu bytes",
                   *bytes);
    return 0;
  }
  MlDsaInput in;
  const int done = make(in.mu()) && sign_mu(context, in, signature, bytes);
  OPENSSL_cleanse(&in, sizeof in);
  return done;
}

int sign(void *pointer, unsigned char *signature, size_t *bytes, size_t room,
         const unsigned char *in, size_t in_bytes) {
  SignatureContext &context = context_of(pointer);
  return sign_with(context, signature, bytes, room,
                   [&](uint8_t *mu) { return make_mu(context, in, in_bytes, mu); });
}

int finish_sign(void *pointer, unsigned char *signature, size_t *bytes, size_t room) {
  SignatureContext &context = context_of(pointer);
  if (!context.message) return 0;
  return sign_with(context, signature, bytes, room,
                   [&](uint8_t *mu) { return finish_message(context, mu); });
}

int verify(void *pointer, const unsigned char *signature, size_t bytes, const unsigned char *in,
           size_t in_bytes) {
  SignatureContext &context = context_of(pointer);
  uint8_t mu[kMlDsaMuBytes];
  return context.key != nullptr && make_mu(context, in, in_bytes, mu) &&
         verify_mu(context, mu, signature, bytes);
}

int finish_verify(void *pointer) {
  SignatureContext &context = context_of(pointer);
  uint8_t mu[kMlDsaMuBytes];
  return context.message && finish_message(context, mu) &&
         verify_mu(context, mu, context.signature.data(), context.signature.size());
}

using Function = void (*)();
template <size_t kType>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_SIGNATURE_NEWCTX, reinterpret_cast<Function>(new_context<kType>)},
    {OSSL_FUNC_SIGNATURE_FREECTX, reinterpret_cast<Function>(free_context)},
    {OSSL_FUNC_SIGNATURE_DUPCTX, reinterpret_cast<Function>(copy_context)},
    {kSignMessageInit, reinterpret_cast<Function>(begin)},
    {kSignMessageUpdate, reinterpret_cast<Function>(update)},
    {kSignMessageFinal, reinterpret_cast<Function>(finish_sign)},
    {OSSL_FUNC_SIGNATURE_SIGN, reinterpret_cast<Function>(sign)},
    {kVerifyMessageInit, reinterpret_cast<Function>(begin)},
    {kVerifyMessageUpdate, reinterpret_cast<Function>(update)},
    {kVerifyMessageFinal, reinterpret_cast<Function>(finish_verify)},
    {OSSL_FUNC_SIGNATURE_VERIFY, reinterpret_cast<Function>(verify)},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, reinterpret_cast<Function>(begin_digest)},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN, reinterpret_cast<Function>(sign)},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT, reinterpret_cast<Function>(begin_digest)},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY, reinterpret_cast<Function>(verify)},
    {OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, reinterpret_cast<Function>(get_params)},
    {OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS, reinterpret_cast<Function>(gettable_params)},
    {OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, reinterpret_cast<Function>(set_params)},
    {OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS, reinterpret_cast<Function>(settable_params)},
    {0, nullptr},
};

}  // namespace

const OSSL_ALGORITHM kMlDsaSignatureOperations[] = {
    {kPqTypes[0].names, "provider=gpu", kFunctions<0>, nullptr},
    {kPqTypes[1].names, "provider=gpu", kFunctions<1>, nullptr},
    {kPqTypes[2].names, "provider=gpu", kFunctions<2>, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
