// The dispatch table of RSA encryption and decryption (OSSL_OP_ASYM_CIPHER). A context of the
// default provider holds the state, checks it and encrypts. After a device has decrypted, the
// padding is removed here.
//
// SPDX-License-Identifier: Apache-2.0
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/program_random.h"
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
// OpenSSL has the parameter since 3.2, and some distributions' earlier releases have it too.
constexpr char kImplicitRejection[] = "implicit-rejection";

// DecryptingState is the part of the default provider's context state that the padding needs.
struct DecryptingState {
  bool known = false;
  int padding = 0;
  bool rejects_implicitly = false;
  unsigned tls_version = 0, tls_alternative = 0;
  EVP_MD *digest = nullptr, *mgf1_digest = nullptr;
  // The default provider owns the label. It is valid until its context changes.
  const uint8_t *label = nullptr;
  size_t label_bytes = 0;

  void forget() {
    EVP_MD_free(digest);
    EVP_MD_free(mgf1_digest);
    *this = DecryptingState();
  }
};

// OaepQueries are the property queries with which the application set the digests. As in OpenSSL, a
// query is "" if the application gave none. MGF1 uses the OAEP digest until another is set.
struct OaepQueries {
  std::string digest, mgf1_digest;
  bool has_mgf1_digest = false;

  // note() notes the queries of parameters that the default provider's context has accepted. It may
  // throw std::bad_alloc.
  void note(const OSSL_PARAM params[]) {
    const auto note_one = [&](const char *digest_name, const char *query_name, std::string &query) {
      if (OSSL_PARAM_locate_const(params, digest_name) == nullptr) return false;
      const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, query_name);
      query = param != nullptr ? text_of(*param) : "";
      return true;
    };
    note_one(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST_PROPS, digest);
    has_mgf1_digest |= note_one(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST,
                                OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST_PROPS, mgf1_digest);
  }
};

// FallbackParams are the parameters of the default provider's context.
struct FallbackParams {
  int padding = 0;
  char digest[kMostNameBytes] = "", mgf1_digest[kMostNameBytes] = "";
  unsigned tls_version = 0, tls_alternative = 0;
  const void *label = nullptr;
  size_t label_bytes = 0;
  bool rejection_is_known = false;
  unsigned rejects = 0;

  bool read(EVP_PKEY_CTX *context) {
    enum { kLabel = 5, kRejects = 6 };
    OSSL_PARAM params[] = {
        {OSSL_ASYM_CIPHER_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &padding, sizeof padding, 0},
        {OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, OSSL_PARAM_UTF8_STRING, digest, sizeof digest, 0},
        {OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST, OSSL_PARAM_UTF8_STRING, mgf1_digest,
         sizeof mgf1_digest, 0},
        {OSSL_ASYM_CIPHER_PARAM_TLS_CLIENT_VERSION, OSSL_PARAM_UNSIGNED_INTEGER, &tls_version,
         sizeof tls_version, 0},
        {OSSL_ASYM_CIPHER_PARAM_TLS_NEGOTIATED_VERSION, OSSL_PARAM_UNSIGNED_INTEGER,
         &tls_alternative, sizeof tls_alternative, 0},
        {OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, OSSL_PARAM_OCTET_PTR, &label, 0, 0},
        {kImplicitRejection, OSSL_PARAM_UNSIGNED_INTEGER, &rejects, sizeof rejects, 0},
        OSSL_PARAM_END};
    for (OSSL_PARAM *param = params; param->key != nullptr; ++param)
      param->return_size = OSSL_PARAM_UNMODIFIED;
    if (!EVP_PKEY_CTX_get_params(context, params)) return false;
    rejection_is_known = params[kRejects].return_size != OSSL_PARAM_UNMODIFIED;
    if (label != nullptr) label_bytes = params[kLabel].return_size;
    return true;
  }
};

struct CipherContextRsa {
  Provider *provider;
  RsaKey *key = nullptr;
  RsaUse use = RsaUse::kDecrypt;
  EVP_PKEY_CTX *fallback = nullptr;
  OaepQueries queries = {};
  DecryptingState state = {};
};

CipherContextRsa &context_of(void *pointer) { return *static_cast<CipherContextRsa *>(pointer); }

void *new_context(void *provider) {
  return new CipherContextRsa{.provider = static_cast<Provider *>(provider)};
}

void free_context(void *pointer) {
  CipherContextRsa *context = static_cast<CipherContextRsa *>(pointer);
  if (context == nullptr) return;
  context->state.forget();
  EVP_PKEY_CTX_free(context->fallback);
  RsaKey::release(context->key);
  delete context;
}

// copy_fallback() copies the default provider's context. In OpenSSL 3.0.17 and earlier,
// EVP_PKEY_CTX_dup() makes both contexts share the label, and both free it. So if there is a label,
// this begins a new context and sets the same parameters. It may throw std::bad_alloc.
EVP_PKEY_CTX *copy_fallback(const CipherContextRsa &from) {
  FallbackParams has;
  if (!has.read(from.fallback)) return nullptr;
  if (has.label == nullptr) return EVP_PKEY_CTX_dup(from.fallback);
  std::vector<OSSL_PARAM> params;
  const auto set = [&](const char *name, unsigned type, const void *value, size_t bytes) {
    params.push_back({name, type, const_cast<void *>(value), bytes, 0});
  };
  const auto set_text = [&](const char *name, const char *text) {
    set(name, OSSL_PARAM_UTF8_STRING, text, std::strlen(text));
  };
  const auto set_unsigned = [&](const char *name, const unsigned &value) {
    set(name, OSSL_PARAM_UNSIGNED_INTEGER, &value, sizeof value);
  };
  set(OSSL_ASYM_CIPHER_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &has.padding, sizeof has.padding);
  if (has.digest[0] != '\0') {
    set_text(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, has.digest);
    set_text(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST_PROPS, from.queries.digest.c_str());
  }
  if (from.queries.has_mgf1_digest) {
    set_text(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST, has.mgf1_digest);
    set_text(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST_PROPS, from.queries.mgf1_digest.c_str());
  }
  set(OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, OSSL_PARAM_OCTET_STRING, has.label, has.label_bytes);
  set_unsigned(OSSL_ASYM_CIPHER_PARAM_TLS_CLIENT_VERSION, has.tls_version);
  set_unsigned(OSSL_ASYM_CIPHER_PARAM_TLS_NEGOTIATED_VERSION, has.tls_alternative);
  if (has.rejection_is_known) set_unsigned(kImplicitRejection, has.rejects);
  params.push_back(OSSL_PARAM_END);
  return begin_fallback(*from.provider, from.key->fallback(), from.use, params.data());
}

void *copy_context(void *pointer) {
  const CipherContextRsa &from = context_of(pointer);
  std::unique_ptr<CipherContextRsa, decltype(&free_context)> copy(
      new CipherContextRsa{.provider = from.provider}, free_context);
  if (from.key != nullptr) copy->key = from.key->take();
  copy->use = from.use;
  copy->queries = from.queries;
  if (from.fallback != nullptr && (copy->fallback = copy_fallback(from)) == nullptr) return nullptr;
  return copy.release();
}

bool note_queries(CipherContextRsa &context, const OSSL_PARAM params[]) {
  if (params != nullptr) context.queries.note(params);
  return true;
}

int begin(CipherContextRsa &context, void *key, const OSSL_PARAM params[], RsaUse use) {
  if (key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  RsaKey *taken = static_cast<RsaKey *>(key)->take();
  RsaKey::release(context.key);
  context.key = taken;
  context.use = use;
  context.state.forget();
  context.queries = {};
  EVP_PKEY_CTX_free(context.fallback);
  context.fallback = nullptr;
  if (fallback_rsa_cipher(*context.provider) == nullptr) return 0;
  if (context.key->fallback() == nullptr) return refuse(PROV_R_MISSING_KEY);
  if (params == nullptr || params->key == nullptr) {
    const RsaTemplate *from =
        context.key->templates().find(*context.provider, context.key->fallback(), use, nullptr, "");
    if (from != nullptr && (context.fallback = EVP_PKEY_CTX_dup(from->context)) != nullptr)
      return 1;
  }
  context.fallback = begin_fallback(*context.provider, context.key->fallback(), use, params);
  return context.fallback != nullptr && note_queries(context, params);
}

int begin_encrypt(void *context, void *key, const OSSL_PARAM params[]) {
  return begin(context_of(context), key, params, RsaUse::kEncrypt);
}
int begin_decrypt(void *context, void *key, const OSSL_PARAM params[]) {
  return begin(context_of(context), key, params, RsaUse::kDecrypt);
}

int encrypt(void *pointer, unsigned char *out, size_t *out_bytes, size_t room,
            const unsigned char *in, size_t in_bytes) {
  CipherContextRsa &context = context_of(pointer);
  *out_bytes = room;
  return context.fallback == nullptr
             ? refuse(PROV_R_NO_KEY_SET)
             : EVP_PKEY_encrypt(context.fallback, out, out_bytes, in, in_bytes);
}

// read_state() queries the default provider's context for everything that the padding needs.
bool read_state(CipherContextRsa &context) {
  DecryptingState &state = context.state;
  if (state.known) return true;
  state.forget();
  FallbackParams params;
  if (!params.read(context.fallback)) return false;
  const char *const digest = params.digest, *const mgf1_digest = params.mgf1_digest;
  state.padding = params.padding;
  state.tls_version = params.tls_version;
  state.tls_alternative = params.tls_alternative;
  // A version without the parameter has no implicit rejection.
  state.rejects_implicitly = params.rejection_is_known && params.rejects != 0;
  state.label = static_cast<const uint8_t *>(params.label);
  state.label_bytes = params.label_bytes;
  Provider &provider = *context.provider;
  if (state.padding == RSA_PKCS1_OAEP_PADDING) {
    const OaepQueries &queries = context.queries;
    state.digest =
        fetch_digest(provider, digest[0] == '\0' ? "SHA1" : digest, queries.digest.c_str());
    if (queries.has_mgf1_digest)
      state.mgf1_digest = fetch_digest(provider, mgf1_digest, queries.mgf1_digest.c_str());
    else if (state.digest != nullptr && EVP_MD_up_ref(state.digest))
      state.mgf1_digest = state.digest;
    if (state.mgf1_digest == nullptr) return false;
  } else {
    state.digest = fetch_digest(provider, "SHA256", kFallbackProperties);
  }
  state.known = state.digest != nullptr;
  return state.known;
}

// is_regular() says whether a device may decrypt this. The default provider does everything else,
// or raises the error.
bool is_regular(const CipherContextRsa &context, size_t room) {
  const size_t bytes = context.key->bytes();
  switch (context.state.padding) {
    case RSA_PKCS1_PADDING:
    case RSA_PKCS1_OAEP_PADDING:
    case RSA_NO_PADDING:
      return room >= bytes;
    case RSA_PKCS1_WITH_TLS_PADDING:
      return room >= kPremasterBytes && bytes >= kPremasterBytes + RSA_PKCS1_PADDING_SIZE &&
             context.state.tls_version > 0 && context.state.tls_version <= 0xffff &&
             context.state.tls_alternative <= 0xffff;
    default:
      return false;
  }
}

// decode() removes the padding: RSAES-OAEP (RFC 8017, section 7.1.2), RSAES-PKCS1-v1_5 (section
// 7.2.2), or the TLS variant. It returns the message's length, or -1 with an error raised. If the
// padding may be wrong, no step depends on whether it is.
int decode(CipherContextRsa &context, uint8_t *out, size_t room, ByteSpan encoded,
           ByteSpan ciphertext, const uint8_t *exponent_hash) {
  const DecryptingState &state = context.state;
  const int bytes = int(encoded.size());
  switch (state.padding) {
    case RSA_PKCS1_OAEP_PADDING:
      return RSA_padding_check_PKCS1_OAEP_mgf1(out, int(room), encoded.data(), bytes, bytes,
                                               state.label, int(state.label_bytes), state.digest,
                                               state.mgf1_digest);
    case RSA_PKCS1_WITH_TLS_PADDING: {
      uint8_t random[kPremasterBytes];
      if (!draw_private(*context.provider, random, sizeof random)) {
        ERR_raise(ERR_LIB_RSA, ERR_R_INTERNAL_ERROR);
        return -1;
      }
      decode_tls_premaster(out, encoded, random, state.tls_version, state.tls_alternative);
      OPENSSL_cleanse(random, sizeof random);
      return int(kPremasterBytes);
    }
    case RSA_PKCS1_PADDING: {
      if (state.rejects_implicitly) {
        const int message_bytes =
            decode_pkcs1_implicitly(out, encoded, ciphertext, exponent_hash, state.digest);
        if (message_bytes < 0) ERR_raise(ERR_LIB_RSA, ERR_R_INTERNAL_ERROR);
        return message_bytes;
      }
      return decode_pkcs1(out, encoded);
    }
    default:  // RSA_NO_PADDING
      std::memcpy(out, encoded.data(), encoded.size());
      return bytes;
  }
}

int decrypt(void *pointer, unsigned char *out, size_t *out_bytes, size_t room,
            const unsigned char *in, size_t in_bytes) {
  CipherContextRsa &context = context_of(pointer);
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  const size_t before = *out_bytes;
  *out_bytes = room;
  if (out == nullptr)
    return EVP_PKEY_decrypt(context.fallback, nullptr, out_bytes, in, in_bytes) == 1;
  const size_t bytes = context.key->bytes();
  RsaOperation operation(*context.key);
  if (!operation.may_go_on()) return 0;
  if (operation.is_for_device() && in != nullptr && in_bytes > 0 && in_bytes <= bytes) {
    uint8_t ciphertext[kMostRsaBytes], encoded[kMostRsaBytes];
    std::memset(ciphertext, 0, bytes - in_bytes);
    std::memcpy(ciphertext + bytes - in_bytes, in, in_bytes);
    bool regular = is_below({ciphertext, bytes}, context.key->modulus());
    if (const ErrorMark mark; regular) regular = read_state(context) && is_regular(context, room);
    const OffloadResult taken =
        regular ? operation.run(ciphertext, encoded) : OffloadResult::kNotTaken;
    if (taken == OffloadResult::kDone) {
      const int message_bytes = decode(context, out, room, {encoded, bytes}, {ciphertext, bytes},
                                       operation.exponent_hash());
      OPENSSL_cleanse(encoded, bytes);
      return conclude_decryption(out_bytes, message_bytes, before);
    }
    if (taken == OffloadResult::kFailed) return 0;
  }
  return operation.note(EVP_PKEY_decrypt(context.fallback, out, out_bytes, in, in_bytes) == 1);
}

int get_params(void *pointer, OSSL_PARAM params[]) {
  CipherContextRsa &context = context_of(pointer);
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  return EVP_PKEY_CTX_get_params(context.fallback, params) == 1;
}
int set_params(void *pointer, const OSSL_PARAM params[]) {
  CipherContextRsa &context = context_of(pointer);
  if (context.fallback == nullptr) return refuse(PROV_R_NO_KEY_SET);
  if (params == nullptr || params->key == nullptr) return 1;
  context.state.forget();
  return EVP_PKEY_CTX_set_params(context.fallback, params) == 1 && note_queries(context, params);
}
const OSSL_PARAM *gettable_params(void *, void *provider) {
  const EVP_ASYM_CIPHER *cipher = fallback_rsa_cipher(*static_cast<Provider *>(provider));
  return cipher == nullptr ? nullptr : EVP_ASYM_CIPHER_gettable_ctx_params(cipher);
}
const OSSL_PARAM *settable_params(void *, void *provider) {
  const EVP_ASYM_CIPHER *cipher = fallback_rsa_cipher(*static_cast<Provider *>(provider));
  return cipher == nullptr ? nullptr : EVP_ASYM_CIPHER_settable_ctx_params(cipher);
}

const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_ASYM_CIPHER_NEWCTX, reinterpret_cast<Function>(called_from_c<new_context>)},
    {OSSL_FUNC_ASYM_CIPHER_FREECTX, reinterpret_cast<Function>(called_from_c<free_context>)},
    {OSSL_FUNC_ASYM_CIPHER_DUPCTX, reinterpret_cast<Function>(called_from_c<copy_context>)},
    {OSSL_FUNC_ASYM_CIPHER_ENCRYPT_INIT, reinterpret_cast<Function>(called_from_c<begin_encrypt>)},
    {OSSL_FUNC_ASYM_CIPHER_ENCRYPT, reinterpret_cast<Function>(called_from_c<encrypt>)},
    {OSSL_FUNC_ASYM_CIPHER_DECRYPT_INIT, reinterpret_cast<Function>(called_from_c<begin_decrypt>)},
    {OSSL_FUNC_ASYM_CIPHER_DECRYPT, reinterpret_cast<Function>(called_from_c<decrypt>)},
    {OSSL_FUNC_ASYM_CIPHER_GET_CTX_PARAMS, reinterpret_cast<Function>(called_from_c<get_params>)},
    {OSSL_FUNC_ASYM_CIPHER_GETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<gettable_params>)},
    {OSSL_FUNC_ASYM_CIPHER_SET_CTX_PARAMS, reinterpret_cast<Function>(called_from_c<set_params>)},
    {OSSL_FUNC_ASYM_CIPHER_SETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<settable_params>)},
    {0, nullptr},
};

}  // namespace

const OSSL_ALGORITHM kRsaCipherOperations[] = {
    {"RSA:rsaEncryption:1.2.840.113549.1.1.1", "provider=gpu", kFunctions, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
