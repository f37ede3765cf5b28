// The keymgmt of RSA and RSA-PSS. Each key is a key of the default provider, used through EVP in
// the library context that has that provider.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <memory>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/refusal.h"
#include "provider/rsa/rsa_generation.h"
#include "provider/rsa/rsa_key.h"
#include "provider/rsa/rsa_operations.h"

namespace lanecrypt::provider {
namespace {

constexpr int kSelections = OSSL_KEYMGMT_SELECT_KEYPAIR | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS;

RsaKey *key_of(void *pointer) { return static_cast<RsaKey *>(pointer); }
// This overload takes a const key, because functions that only change its reference count get one.
RsaKey *key_of(const void *pointer) { return static_cast<RsaKey *>(const_cast<void *>(pointer)); }

template <RsaType kType>
void *new_key(void *provider) {
  return new RsaKey(*static_cast<Provider *>(provider), kType);
}
void free_key(void *key) { RsaKey::release(key_of(key)); }

// key_around() creates a key that takes ownership of `made`, a key of the default provider. It
// returns nullptr if `made` is nullptr.
RsaKey *key_around(Provider &provider, RsaType type, EVP_PKEY *made) {
  if (made == nullptr) return nullptr;
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> its(made, EVP_PKEY_free);
  std::unique_ptr<RsaKey, decltype(&RsaKey::release)> key(new RsaKey(provider, type),
                                                          RsaKey::release);
  key->set_fallback(its.release());
  return key.release();
}

// new_context() returns a context of the default provider for this key type, or nullptr with an
// error raised.
EVP_PKEY_CTX *new_context(Provider &provider, RsaType type) {
  if (fallback_rsa_keymgmt(provider, type == RsaType::kRsaPss) == nullptr) return nullptr;
  return EVP_PKEY_CTX_new_from_name(library_of_fallback(provider), name_of(type),
                                    kFallbackProperties);
}

int has(const void *pointer, int selection) {
  const RsaKey *key = key_of(pointer);
  if (key == nullptr) return 0;
  if ((selection & kSelections) == 0) return 1;
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return 1;
  if (key->bits() == 0) return 0;
  const RsaKey::Parts parts = key->parts(selection & OSSL_KEYMGMT_SELECT_KEYPAIR);
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0 && !parts.is_public) return 0;
  return (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 || parts.is_private ? 1 : 0;
}

int match(const void *a, const void *b, int selection) {
  EVP_PKEY *first = key_of(a)->fallback(), *second = key_of(b)->fallback();
  if (first == nullptr || second == nullptr) return 0;
  return (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0
             ? EVP_PKEY_eq(first, second) == 1
             : EVP_PKEY_parameters_eq(first, second) == 1;
}

int validate(const void *pointer, int selection, int check_type) {
  RsaKey *key = key_of(pointer);
  const int pair = selection & OSSL_KEYMGMT_SELECT_KEYPAIR;
  // As in OpenSSL, parameters are not checked.
  if (pair == 0) return 1;
  if (key->fallback() == nullptr) return refuse(PROV_R_MISSING_KEY);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(library_of_fallback(key->provider()),
                                                     key->fallback(), kFallbackProperties);
  if (context == nullptr) return 0;
  int valid = 0;
  if (pair == OSSL_KEYMGMT_SELECT_KEYPAIR)
    valid = EVP_PKEY_pairwise_check(context);
  else if (pair == OSSL_KEYMGMT_SELECT_PRIVATE_KEY)
    valid = EVP_PKEY_private_check(context);
  else if (check_type == OSSL_KEYMGMT_VALIDATE_QUICK_CHECK)
    valid = EVP_PKEY_public_check_quick(context);
  else
    valid = EVP_PKEY_public_check(context);
  EVP_PKEY_CTX_free(context);
  return valid == 1;
}

int import_key(void *pointer, int selection, const OSSL_PARAM params[]) {
  RsaKey *key = key_of(pointer);
  if (key == nullptr || (selection & kSelections) == 0)
    return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  EVP_PKEY *made = make_fallback_rsa_key(key->provider(), key->type(), selection, params);
  if (made == nullptr) return 0;
  key->set_fallback(made);
  return 1;
}

int export_key(void *pointer, int selection, OSSL_CALLBACK *callback, void *argument) {
  RsaKey *key = key_of(pointer);
  if (key == nullptr || key->fallback() == nullptr) return refuse(PROV_R_MISSING_KEY);
  if ((selection & kSelections) == 0) return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  return EVP_PKEY_export(key->fallback(), selection, callback, argument);
}

void *duplicate(const void *pointer, int selection) {
  RsaKey *key = key_of(pointer);
  // As in OpenSSL, this raises no error: EVP requests copies of parts that a key need not have.
  if (key->fallback() == nullptr || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return nullptr;
  // A part of a key is copied by exporting and importing its parameters.
  struct Part {
    RsaKey &key;
    int selection;
    EVP_PKEY *made;
  } part{*key, selection, nullptr};
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0) {
    part.made = EVP_PKEY_dup(key->fallback());
  } else {
    constexpr auto make = [](const OSSL_PARAM params[], void *argument) {
      Part &of = *static_cast<Part *>(argument);
      of.made = make_fallback_rsa_key(of.key.provider(), of.key.type(), of.selection, params);
      return of.made != nullptr ? 1 : 0;
    };
    EVP_PKEY_export(key->fallback(), selection, called_from_c<make>, &part);
  }
  return key_around(key->provider(), key->type(), part.made);
}

int get_params(void *pointer, OSSL_PARAM params[]) {
  RsaKey *key = key_of(pointer);
  if (key->fallback() == nullptr) return refuse(PROV_R_MISSING_KEY);
  return EVP_PKEY_get_params(key->fallback(), params) == 1;
}
template <RsaType kType>
const OSSL_PARAM *gettable_params(void *provider) {
  const EVP_KEYMGMT *keymgmt =
      fallback_rsa_keymgmt(*static_cast<Provider *>(provider), kType == RsaType::kRsaPss);
  return keymgmt == nullptr ? nullptr : EVP_KEYMGMT_gettable_params(keymgmt);
}

// kKeyTypes is the same list as OpenSSL's. The core queries it without a provider context.
#define NUMBER(name) OSSL_PARAM_BN(name, nullptr, 0)
const OSSL_PARAM kKeyTypes[] = {NUMBER(OSSL_PKEY_PARAM_RSA_N),
                                NUMBER(OSSL_PKEY_PARAM_RSA_E),
                                NUMBER(OSSL_PKEY_PARAM_RSA_D),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR1),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR2),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR3),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR4),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR5),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR6),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR7),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR8),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR9),
                                NUMBER(OSSL_PKEY_PARAM_RSA_FACTOR10),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT1),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT2),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT3),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT4),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT5),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT6),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT7),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT8),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT9),
                                NUMBER(OSSL_PKEY_PARAM_RSA_EXPONENT10),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT1),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT2),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT3),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT4),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT5),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT6),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT7),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT8),
                                NUMBER(OSSL_PKEY_PARAM_RSA_COEFFICIENT9),
                                OSSL_PARAM_END};
#undef NUMBER
const OSSL_PARAM *key_types(int selection) {
  return (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0 ? kKeyTypes : nullptr;
}

// ---- Generation: on a device if that is sooner, else by the default provider ----

struct Generation {
  Provider *provider;
  RsaType type;
  EVP_PKEY_CTX *fallback;
  RsaWish wish;
  // The core's callback and its argument, valid during a call of generate().
  OSSL_CALLBACK *callback;
  void *argument;
};

void free_generation(void *pointer) {
  Generation *generation = static_cast<Generation *>(pointer);
  if (generation == nullptr) return;
  EVP_PKEY_CTX_free(generation->fallback);
  delete generation;
}

int set_generation_params(void *pointer, const OSSL_PARAM params[]) {
  if (params == nullptr || params->key == nullptr) return 1;
  Generation &generation = *static_cast<Generation *>(pointer);
  if (EVP_PKEY_CTX_set_params(generation.fallback, params) != 1) {
    // The default provider may keep a value that it has refused, and then generates no key.
    generation.wish.leave_to_fallback();
    return 0;
  }
  generation.wish.read(params);
  return 1;
}

template <RsaType kType>
void *begin_generation(void *provider, int selection, const OSSL_PARAM params[]) {
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) {
    (void)refuse(ERR_R_PASSED_INVALID_ARGUMENT);
    return nullptr;
  }
  std::unique_ptr<Generation, decltype(&free_generation)> generation(
      new Generation{static_cast<Provider *>(provider), kType, nullptr, {}, nullptr, nullptr},
      free_generation);
  generation->fallback = new_context(*generation->provider, kType);
  if (generation->fallback == nullptr || EVP_PKEY_keygen_init(generation->fallback) != 1 ||
      !set_generation_params(generation.get(), params))
    return nullptr;
  return generation.release();
}

template <RsaType kType>
const OSSL_PARAM *settable_generation_params(void *, void *provider) {
  const EVP_KEYMGMT *keymgmt =
      fallback_rsa_keymgmt(*static_cast<Provider *>(provider), kType == RsaType::kRsaPss);
  return keymgmt == nullptr ? nullptr : EVP_KEYMGMT_gen_settable_params(keymgmt);
}

// tell_progress() reports the progress of the search to the core's callback.
int tell_progress(void *of, int potential, int iteration) {
  const Generation &generation = *static_cast<Generation *>(of);
  const OSSL_PARAM params[] = {
      {OSSL_GEN_PARAM_POTENTIAL, OSSL_PARAM_INTEGER, &potential, sizeof potential, 0},
      {OSSL_GEN_PARAM_ITERATION, OSSL_PARAM_INTEGER, &iteration, sizeof iteration, 0},
      OSSL_PARAM_END};
  return generation.callback(params, generation.argument);
}

// pass_on_progress() is called by libcrypto, and must not throw.
int pass_on_progress(EVP_PKEY_CTX *context) noexcept {
  return tell_progress(EVP_PKEY_CTX_get_app_data(context), EVP_PKEY_CTX_get_keygen_info(context, 0),
                       EVP_PKEY_CTX_get_keygen_info(context, 1));
}

// generate_pkey() returns the new key, or nullptr, with an error raised unless the core's callback
// stopped the generation.
EVP_PKEY *generate_pkey(Generation &generation) {
  const TellProgress tell = generation.callback == nullptr ? nullptr : tell_progress;
  const GeneratedKey generated =
      generate_rsa_key(*generation.provider, generation.type, generation.wish, tell, &generation);
  if (generated.outcome != GeneratedKey::Outcome::kElsewhere) return generated.key;
  EVP_PKEY_CTX_set_app_data(generation.fallback, &generation);
  EVP_PKEY_CTX_set_cb(generation.fallback, tell == nullptr ? nullptr : pass_on_progress);
  EVP_PKEY *made = nullptr;
  if (EVP_PKEY_generate(generation.fallback, &made) != 1) {
    EVP_PKEY_free(made);
    return nullptr;
  }
  generation.provider->counters.count(Count::kRsaCpuKeys);
  return made;
}

void *generate(void *pointer, OSSL_CALLBACK *callback, void *argument) {
  Generation &generation = *static_cast<Generation *>(pointer);
  generation.callback = callback;
  generation.argument = argument;
  return key_around(*generation.provider, generation.type, generate_pkey(generation));
}

// operation_name() returns "RSA" for both types, because the operations of that name serve both.
const char *operation_name(int) { return "RSA"; }

template <RsaType kType>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_KEYMGMT_NEW, reinterpret_cast<Function>(called_from_c<new_key<kType>>)},
    {OSSL_FUNC_KEYMGMT_FREE, reinterpret_cast<Function>(called_from_c<free_key>)},
    {OSSL_FUNC_KEYMGMT_HAS, reinterpret_cast<Function>(called_from_c<has>)},
    {OSSL_FUNC_KEYMGMT_MATCH, reinterpret_cast<Function>(called_from_c<match>)},
    {OSSL_FUNC_KEYMGMT_VALIDATE, reinterpret_cast<Function>(called_from_c<validate>)},
    {OSSL_FUNC_KEYMGMT_IMPORT, reinterpret_cast<Function>(called_from_c<import_key>)},
    {OSSL_FUNC_KEYMGMT_IMPORT_TYPES, reinterpret_cast<Function>(called_from_c<key_types>)},
    {OSSL_FUNC_KEYMGMT_EXPORT, reinterpret_cast<Function>(called_from_c<export_key>)},
    {OSSL_FUNC_KEYMGMT_EXPORT_TYPES, reinterpret_cast<Function>(called_from_c<key_types>)},
    {OSSL_FUNC_KEYMGMT_DUP, reinterpret_cast<Function>(called_from_c<duplicate>)},
    {OSSL_FUNC_KEYMGMT_GET_PARAMS, reinterpret_cast<Function>(called_from_c<get_params>)},
    {OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS,
     reinterpret_cast<Function>(called_from_c<gettable_params<kType>>)},
    {OSSL_FUNC_KEYMGMT_GEN_INIT,
     reinterpret_cast<Function>(called_from_c<begin_generation<kType>>)},
    {OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS,
     reinterpret_cast<Function>(called_from_c<set_generation_params>)},
    {OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS,
     reinterpret_cast<Function>(called_from_c<settable_generation_params<kType>>)},
    {OSSL_FUNC_KEYMGMT_GEN, reinterpret_cast<Function>(called_from_c<generate>)},
    {OSSL_FUNC_KEYMGMT_GEN_CLEANUP, reinterpret_cast<Function>(called_from_c<free_generation>)},
    {OSSL_FUNC_KEYMGMT_QUERY_OPERATION_NAME,
     reinterpret_cast<Function>(called_from_c<operation_name>)},
    {0, nullptr},
};

}  // namespace

// OpenSSL's names, aliases and object identifiers (RFC 8017, appendix C).
const OSSL_ALGORITHM kRsaKeymgmtOperations[] = {
    {"RSA:rsaEncryption:1.2.840.113549.1.1.1", "provider=gpu", kFunctions<RsaType::kRsa>, nullptr},
    {"RSA-PSS:RSASSA-PSS:1.2.840.113549.1.1.10", "provider=gpu", kFunctions<RsaType::kRsaPss>,
     nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
