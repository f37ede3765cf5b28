// The dispatch table of RSA signatures. A context of the default provider holds the state, checks
// it and verifies. A message that a device signs is padded here.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/proverr.h>
#include <openssl/rsa.h>

#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/refusal.h"
#include "provider/rsa/rsa_device.h"
#include "provider/rsa/rsa_digests.h"
#include "provider/rsa/rsa_key.h"
#include "provider/rsa/rsa_operations.h"
#include "provider/rsa/rsa_padding.h"
#include "provider/rsa/rsa_template.h"

namespace lanecrypt::provider {
namespace {

constexpr size_t kMostNameBytes = 64;

struct SignatureContext {
  Provider *provider;
  RsaKey *key = nullptr;
  EVP_PKEY_CTX *fallback = nullptr;
  DigestQueries queries;
  SigningState state;
  // For a signature over a message: its hash so far, whether the digest is fixed until the message
  // ends, and the parameters that are settable meanwhile.
  EVP_MD_CTX *hash = nullptr;
  bool digest_is_fixed = false;
  OSSL_PARAM settable[16];
};

SignatureContext &context_of(void *pointer) { return *static_cast<SignatureContext *>(pointer); }

SignatureContext *make_context(Provider *provider, const DigestQueries &queries) {
  std::unique_ptr<SignatureContext> context(new SignatureContext{});
  context->provider = provider;
  context->queries = queries;
  return context.release();
}

void *new_context(void *provider, const char *properties) {
  DigestQueries queries;
  if (properties != nullptr) queries.general = properties;
  return make_context(static_cast<Provider *>(provider), queries);
}

void free_context(void *pointer) {
  SignatureContext *context = static_cast<SignatureContext *>(pointer);
  if (context == nullptr) return;
  EVP_MD_CTX_free(context->hash);
  EVP_PKEY_CTX_free(context->fallback);
  RsaKey::release(context->key);
  delete context;
}

void *copy_context(void *pointer) {
  const SignatureContext &from = context_of(pointer);
  SignatureContext *copy = make_context(from.provider, from.queries);
  copy->digest_is_fixed = from.digest_is_fixed;
  copy->state = from.state;
  if (from.key != nullptr) copy->key = from.key->take();
  if (from.fallback != nullptr) copy->fallback = EVP_PKEY_CTX_dup(from.fallback);
  if (from.hash != nullptr) copy->hash = EVP_MD_CTX_new();
  if ((from.fallback != nullptr && copy->fallback == nullptr) ||
      (from.hash != nullptr &&
       (copy->hash == nullptr || !EVP_MD_CTX_copy_ex(copy->hash, from.hash)))) {
    free_context(copy);
    return nullptr;
  }
  return copy;
}

// ---- Beginning ------------------------------------------------------------

// take_key() takes a reference to `key`, or keeps the previous key if it is nullptr.
bool take_key(SignatureContext &context, void *key) {
  if (key == nullptr && context.key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  if (key != nullptr) {
    RsaKey *taken = static_cast<RsaKey *>(key)->take();
    RsaKey::release(context.key);
    context.key = taken;
  }
  context.state.forget();
  context.queries.forget();
  context.digest_is_fixed = false;
  EVP_PKEY_CTX_free(context.fallback);
  context.fallback = nullptr;
  return fallback_rsa_signature(*context.provider) != nullptr &&
         (context.key->fallback() != nullptr || refuse(PROV_R_MISSING_KEY));
}

// begin_by_copy() copies the context of a template. It returns false if there is none.
bool begin_by_copy(SignatureContext &context, RsaUse use, const char *digest) {
  const RsaTemplate *from = context.key->templates().find(
      *context.provider, context.key->fallback(), use, digest, context.queries.general);
  if (from == nullptr) return false;
  context.fallback = EVP_PKEY_CTX_dup(from->context);
  if (context.fallback == nullptr) return false;
  context.state = from->state;
  if (digest != nullptr) context.queries = from->queries;
  return true;
}

bool is_empty(const OSSL_PARAM params[]) { return params == nullptr || params->key == nullptr; }

// begin_anew() initialises a new context of the default provider. This function and its callers may
// throw std::bad_alloc.
bool begin_anew(SignatureContext &context, RsaUse use, const OSSL_PARAM params[]) {
  std::vector<OSSL_PARAM> completed;
  if (!is_empty(params) && sets_digest(params)) {
    completed = context.queries.complete(*context.provider, params);
    params = completed.data();
  }
  context.fallback = begin_fallback(*context.provider, context.key->fallback(), use, params);
  return context.fallback != nullptr;
}

int begin(SignatureContext &context, void *key, const OSSL_PARAM params[], RsaUse use) {
  if (!take_key(context, key)) return 0;
  if (is_empty(params) && begin_by_copy(context, use, nullptr)) return 1;
  return begin_anew(context, use, params);
}

template <RsaUse kUse>
int begin_use(void *context, void *key, const OSSL_PARAM params[]) {
  return begin(context_of(context), key, params, kUse);
}

// read_state() queries the default provider's context for everything that the padding needs.
bool read_state(SignatureContext &context) {
  return context.state.read(*context.provider, context.fallback, context.queries);
}

int begin_message(SignatureContext &context, const char *name, void *key, const OSSL_PARAM params[],
                  RsaUse use) {
  if (!take_key(context, key)) return 0;
  if (name == nullptr || !is_empty(params) || !begin_by_copy(context, use, name)) {
    if (!begin_anew(context, use, params) ||
        !set_message_digest(*context.provider, context.fallback, name, context.queries) ||
        !read_state(context))
      return 0;
  }
  context.digest_is_fixed = true;
  if (context.hash == nullptr) context.hash = EVP_MD_CTX_new();
  if (context.hash != nullptr && EVP_DigestInit_ex2(context.hash, context.state.digest, params))
    return 1;
  EVP_MD_CTX_free(context.hash);
  context.hash = nullptr;
  return 0;
}

template <RsaUse kUse>
int begin_use_message(void *context, const char *digest, void *key, const OSSL_PARAM params[]) {
  return begin_message(context_of(context), digest, key, params, kUse);
}

// update_message() hashes `bytes` of the message. If there is no hash, because a digest was set too
// late, this function and the final functions fail without raising an error, as in OpenSSL.
int update_message(void *pointer, const unsigned char *data, size_t bytes) {
  SignatureContext &context = context_of(pointer);
  return context.hash != nullptr && EVP_DigestUpdate(context.hash, data, bytes);
}

// ---- Signing --------------------------------------------------------------

// encode() writes the encoded message, as long as the modulus, to `out`. If it returns false, the
// default provider signs, or raises the error.
bool encode(SignatureContext &context, std::span<uint8_t> out, ByteSpan in) {
  if (const ErrorMark mark; !read_state(context)) return false;
  const SigningState &state = context.state;
  if (state.digest != nullptr && in.size() != state.digest_bytes) return false;
  switch (state.padding) {
    case RSA_PKCS1_PADDING: {
      if (state.digest == nullptr) return encode_pkcs1(out, in);
      if (state.prefix.data() == nullptr) return false;
      uint8_t info[32 + EVP_MAX_MD_SIZE];
      if (!state.prefix.empty()) std::memcpy(info, state.prefix.data(), state.prefix.size());
      std::memcpy(info + state.prefix.size(), in.data(), in.size());
      return encode_pkcs1(out, {info, state.prefix.size() + in.size()});
    }
    case RSA_PKCS1_PSS_PADDING:
      return state.digest != nullptr && state.mgf1_digest != nullptr &&
             encode_pss(out, context.key->bits(), in, state.digest, state.mgf1_digest,
                        state.salt_bytes, context.key->least_salt_bytes(),
                        context.provider->program);
    case RSA_X931_PADDING:
      return encode_x931(out, in, state.digest);
    case RSA_NO_PADDING:
      if (state.digest != nullptr || in.size() != out.size() ||
          !is_below(in, context.key->modulus()))
        return false;
      std::memcpy(out.data(), in.data(), in.size());
      return true;
    default:
      return false;
  }
}

int sign(void *pointer, unsigned char *signature, size_t *signature_bytes, size_t room,
         const unsigned char *in, size_t in_bytes) {
  SignatureContext &context = context_of(pointer);
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  *signature_bytes = room;
  if (signature == nullptr)
    return EVP_PKEY_sign(context.fallback, nullptr, signature_bytes, in, in_bytes) == 1;
  const size_t bytes = context.key->bytes();
  RsaOperation operation(*context.key);
  if (!operation.may_go_on()) return 0;
  if (operation.is_for_device() && room >= bytes && in != nullptr) {
    uint8_t encoded[kMostRsaBytes];
    OffloadResult taken = OffloadResult::kNotTaken;
    if (const ErrorMark mark; encode(context, {encoded, bytes}, {in, in_bytes}))
      taken = OffloadResult::kDone;
    if (taken == OffloadResult::kDone) taken = operation.run(encoded, signature);
    OPENSSL_cleanse(encoded, bytes);
    if (taken == OffloadResult::kFailed) return 0;
    if (taken == OffloadResult::kDone) {
      if (context.state.padding == RSA_X931_PADDING)
        take_smaller_x931({signature, bytes}, context.key->modulus());
      *signature_bytes = bytes;
      return 1;
    }
  }
  return operation.note(EVP_PKEY_sign(context.fallback, signature, signature_bytes, in, in_bytes) ==
                        1);
}

int finish_sign_message(void *pointer, unsigned char *signature, size_t *signature_bytes,
                        size_t room) {
  SignatureContext &context = context_of(pointer);
  if (context.hash == nullptr) return 0;
  uint8_t digest[EVP_MAX_MD_SIZE];
  unsigned digest_bytes = 0;
  int done = 0;
  if (signature == nullptr || EVP_DigestFinal_ex(context.hash, digest, &digest_bytes))
    done = sign(pointer, signature, signature_bytes, room, digest, digest_bytes);
  context.digest_is_fixed = false;
  return done;
}

// ---- Verifying ------------------------------------------------------------

int verify(void *pointer, const unsigned char *signature, size_t signature_bytes,
           const unsigned char *in, size_t in_bytes) {
  SignatureContext &context = context_of(pointer);
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  return EVP_PKEY_verify(context.fallback, signature, signature_bytes, in, in_bytes) == 1;
}

int finish_verify_message(void *pointer, const unsigned char *signature, size_t signature_bytes) {
  SignatureContext &context = context_of(pointer);
  if (context.hash == nullptr) return 0;
  uint8_t digest[EVP_MAX_MD_SIZE];
  unsigned digest_bytes = 0;
  const int done = EVP_DigestFinal_ex(context.hash, digest, &digest_bytes) &&
                   verify(pointer, signature, signature_bytes, digest, digest_bytes);
  context.digest_is_fixed = false;
  return done;
}

int recover(void *pointer, unsigned char *out, size_t *out_bytes, size_t room,
            const unsigned char *signature, size_t signature_bytes) {
  SignatureContext &context = context_of(pointer);
  *out_bytes = room;
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  return EVP_PKEY_verify_recover(context.fallback, out, out_bytes, signature, signature_bytes) == 1;
}

// ---- Parameters -----------------------------------------------------------

int get_params(void *pointer, OSSL_PARAM params[]) {
  SignatureContext &context = context_of(pointer);
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  return EVP_PKEY_CTX_get_params(context.fallback, params) == 1;
}

bool is_of_digest(const char *key) {
  return std::strcmp(key, OSSL_SIGNATURE_PARAM_DIGEST) == 0 ||
         std::strcmp(key, OSSL_SIGNATURE_PARAM_PROPERTIES) == 0;
}

int set_fallback_params(SignatureContext &context, const OSSL_PARAM params[]) {
  if (!sets_digest(params)) return EVP_PKEY_CTX_set_params(context.fallback, params) == 1;
  DigestQueries queries = context.queries;
  const std::vector<OSSL_PARAM> completed = queries.complete(*context.provider, params);
  if (EVP_PKEY_CTX_set_params(context.fallback, completed.data()) != 1) return 0;
  context.queries = std::move(queries);
  return 1;
}

// set_params_but_digest() sets parameters while a message is signed. The digest can then only be
// set to its current value.
int set_params_but_digest(SignatureContext &context, const OSSL_PARAM params[]) {
  OSSL_PARAM others[16];
  size_t count = 0;
  for (const OSSL_PARAM *param = params; param->key != nullptr; ++param)
    if (!is_of_digest(param->key) && count + 1 < std::size(others)) others[count++] = *param;
  others[count] = OSSL_PARAM_END;
  if (!set_fallback_params(context, others)) return 0;
  const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, OSSL_SIGNATURE_PARAM_DIGEST);
  char name[kMostNameBytes] = "", *to = name;
  // Since OpenSSL 3.6 any digest is ignored here.
  if (param == nullptr || 100 * OPENSSL_version_major() + OPENSSL_version_minor() >= 306) return 1;
  if (!OSSL_PARAM_get_utf8_string(param, &to, sizeof name)) return 0;
  // The digest is fetched by its own query. The context's queries stay unchanged.
  DigestQueries queries = context.queries;
  (void)queries.complete(*context.provider, params);
  EVP_MD *digest = fetch_digest(*context.provider, name, queries.digest.c_str());
  const bool is_known = digest != nullptr;
  char set[kMostNameBytes] = "";
  OSSL_PARAM ask[] = {{OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING, set, sizeof set, 0},
                      OSSL_PARAM_END};
  const bool is_same = is_known && EVP_PKEY_CTX_get_params(context.fallback, ask) &&
                       (set[0] == '\0' || EVP_MD_is_a(digest, set));
  EVP_MD_free(digest);
  if (!is_known)
    ERR_raise_data(ERR_LIB_PROV, PROV_R_INVALID_DIGEST, "%s could not be fetched", name);
  else if (!is_same)
    ERR_raise_data(ERR_LIB_PROV, PROV_R_DIGEST_NOT_ALLOWED, "digest %s != %s", name, set);
  return is_same;
}

int set_params(void *pointer, const OSSL_PARAM params[]) {
  SignatureContext &context = context_of(pointer);
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  if (params == nullptr || params->key == nullptr) return 1;
  context.state.forget();
  if (context.digest_is_fixed) return set_params_but_digest(context, params);
  if (!set_fallback_params(context, params)) return 0;
  // The message so far was hashed with the old digest, so it cannot continue.
  if (OSSL_PARAM_locate_const(params, OSSL_SIGNATURE_PARAM_DIGEST) != nullptr) {
    EVP_MD_CTX_free(context.hash);
    context.hash = nullptr;
  }
  return 1;
}

const OSSL_PARAM *gettable_params(void *, void *provider) {
  const EVP_SIGNATURE *signature = fallback_rsa_signature(*static_cast<Provider *>(provider));
  return signature == nullptr ? nullptr : EVP_SIGNATURE_gettable_ctx_params(signature);
}

const OSSL_PARAM *settable_params(void *pointer, void *provider) {
  const EVP_SIGNATURE *signature = fallback_rsa_signature(*static_cast<Provider *>(provider));
  const OSSL_PARAM *all =
      signature == nullptr ? nullptr : EVP_SIGNATURE_settable_ctx_params(signature);
  SignatureContext *context = static_cast<SignatureContext *>(pointer);
  if (context == nullptr || !context->digest_is_fixed || all == nullptr) return all;
  size_t count = 0;
  for (; all->key != nullptr; ++all)
    if (!is_of_digest(all->key) && count + 1 < std::size(context->settable))
      context->settable[count++] = *all;
  context->settable[count] = OSSL_PARAM_END;
  return context->settable;
}

int get_digest_params(void *pointer, OSSL_PARAM params[]) {
  SignatureContext &context = context_of(pointer);
  if (context.hash == nullptr) return refuse(PROV_R_NO_KEY_SET);
  return EVP_MD_CTX_get_params(context.hash, params);
}
int set_digest_params(void *pointer, const OSSL_PARAM params[]) {
  SignatureContext &context = context_of(pointer);
  if (context.hash == nullptr) return refuse(PROV_R_NO_KEY_SET);
  return EVP_MD_CTX_set_params(context.hash, params);
}
const OSSL_PARAM *gettable_digest_params(void *pointer) {
  SignatureContext &context = context_of(pointer);
  return context.fallback != nullptr && read_state(context) && context.state.digest != nullptr
             ? EVP_MD_gettable_ctx_params(context.state.digest)
             : nullptr;
}
const OSSL_PARAM *settable_digest_params(void *pointer) {
  SignatureContext &context = context_of(pointer);
  return context.fallback != nullptr && read_state(context) && context.state.digest != nullptr
             ? EVP_MD_settable_ctx_params(context.state.digest)
             : nullptr;
}

const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_SIGNATURE_NEWCTX, reinterpret_cast<Function>(called_from_c<new_context>)},
    {OSSL_FUNC_SIGNATURE_FREECTX, reinterpret_cast<Function>(called_from_c<free_context>)},
    {OSSL_FUNC_SIGNATURE_DUPCTX, reinterpret_cast<Function>(called_from_c<copy_context>)},
    {OSSL_FUNC_SIGNATURE_SIGN_INIT,
     reinterpret_cast<Function>(called_from_c<begin_use<RsaUse::kSign>>)},
    {OSSL_FUNC_SIGNATURE_SIGN, reinterpret_cast<Function>(called_from_c<sign>)},
    {OSSL_FUNC_SIGNATURE_VERIFY_INIT,
     reinterpret_cast<Function>(called_from_c<begin_use<RsaUse::kVerify>>)},
    {OSSL_FUNC_SIGNATURE_VERIFY, reinterpret_cast<Function>(called_from_c<verify>)},
    {OSSL_FUNC_SIGNATURE_VERIFY_RECOVER_INIT,
     reinterpret_cast<Function>(called_from_c<begin_use<RsaUse::kRecover>>)},
    {OSSL_FUNC_SIGNATURE_VERIFY_RECOVER, reinterpret_cast<Function>(called_from_c<recover>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT,
     reinterpret_cast<Function>(called_from_c<begin_use_message<RsaUse::kSign>>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_UPDATE,
     reinterpret_cast<Function>(called_from_c<update_message>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_FINAL,
     reinterpret_cast<Function>(called_from_c<finish_sign_message>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT,
     reinterpret_cast<Function>(called_from_c<begin_use_message<RsaUse::kVerify>>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_UPDATE,
     reinterpret_cast<Function>(called_from_c<update_message>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_FINAL,
     reinterpret_cast<Function>(called_from_c<finish_verify_message>)},
    {OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, reinterpret_cast<Function>(called_from_c<get_params>)},
    {OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<gettable_params>)},
    {OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, reinterpret_cast<Function>(called_from_c<set_params>)},
    {OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<settable_params>)},
    {OSSL_FUNC_SIGNATURE_GET_CTX_MD_PARAMS,
     reinterpret_cast<Function>(called_from_c<get_digest_params>)},
    {OSSL_FUNC_SIGNATURE_GETTABLE_CTX_MD_PARAMS,
     reinterpret_cast<Function>(called_from_c<gettable_digest_params>)},
    {OSSL_FUNC_SIGNATURE_SET_CTX_MD_PARAMS,
     reinterpret_cast<Function>(called_from_c<set_digest_params>)},
    {OSSL_FUNC_SIGNATURE_SETTABLE_CTX_MD_PARAMS,
     reinterpret_cast<Function>(called_from_c<settable_digest_params>)},
    {0, nullptr},
};

}  // namespace

const OSSL_ALGORITHM kRsaSignatureOperations[] = {
    {"RSA:rsaEncryption:1.2.840.113549.1.1.1", "provider=gpu", kFunctions, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
