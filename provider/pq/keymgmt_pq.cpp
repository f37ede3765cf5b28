// The keymgmt of ML-DSA and SLH-DSA. Each key is a key of the default provider, used through EVP in
// the library context that has that provider. The default provider also generates ML-DSA keys,
// which takes a core a fifth of the time of a signature.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <memory>
#include <new>
#include <utility>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/pq/pq_generation.h"
#include "provider/pq/pq_key.h"
#include "provider/pq/pq_operations.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

// OSSL_PKEY_PARAM_ML_DSA_SEED and OSSL_PKEY_PARAM_SLH_DSA_SEED, which OpenSSL 3.0's headers do not
// define.
constexpr char kSeed[] = "seed";

PqKey *key_of(void *pointer) { return static_cast<PqKey *>(pointer); }
// This overload takes a const key, because functions that only change its reference count get one.
PqKey *key_of(const void *pointer) { return static_cast<PqKey *>(const_cast<void *>(pointer)); }

template <size_t kType>
void *new_key(void *provider) {
  return new PqKey(*static_cast<Provider *>(provider), kPqTypes[kType]);
}
void free_key(void *key) { PqKey::release(key_of(key)); }

int has(const void *pointer, int selection) {
  const PqKey *key = key_of(pointer);
  if (key == nullptr) return 0;
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0 && !key->has_public()) return 0;
  return (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 || key->has_private() ? 1 : 0;
}

int match(const void *a, const void *b, int selection) {
  EVP_PKEY *first = key_of(a)->fallback(), *second = key_of(b)->fallback();
  if (first == nullptr || second == nullptr) return 0;
  return (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0
             ? EVP_PKEY_eq(first, second) == 1
             : EVP_PKEY_parameters_eq(first, second) == 1;
}

int validate(const void *pointer, int selection, int) {
  PqKey *key = key_of(pointer);
  if (!has(pointer, selection)) return refuse(PROV_R_MISSING_KEY);
  // As in OpenSSL, it checks whether both parts belong together, and checks nothing of one part
  // alone.
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != OSSL_KEYMGMT_SELECT_KEYPAIR) return 1;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(library_of_fallback(key->provider()),
                                                     key->fallback(), kFallbackProperties);
  const bool valid = context != nullptr && EVP_PKEY_pairwise_check(context) == 1;
  EVP_PKEY_CTX_free(context);
  return valid ? 1 : 0;
}

int import_key(void *pointer, int selection, const OSSL_PARAM params[]) {
  PqKey *key = key_of(pointer);
  if (key == nullptr || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0)
    return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  EVP_PKEY *made = make_fallback_pq_key(key->provider(), key->type(), selection, params);
  return made != nullptr && key->set_fallback(made) ? 1 : 0;
}

int export_key(void *pointer, int selection, OSSL_CALLBACK *callback, void *argument) {
  PqKey *key = key_of(pointer);
  if (key == nullptr || key->fallback() == nullptr) return refuse(PROV_R_MISSING_KEY);
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  return EVP_PKEY_export(key->fallback(), selection, callback, argument);
}

void *duplicate(const void *pointer, int selection) {
  PqKey *key = key_of(pointer);
  if (key->fallback() == nullptr || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) {
    (void)refuse(PROV_R_MISSING_KEY);
    return nullptr;
  }
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0)
    return PqKey::around(key->provider(), key->type(), EVP_PKEY_dup(key->fallback()));
  // A part of a key is copied by exporting and importing its parameters.
  struct Part {
    PqKey &key;
    int selection;
    EVP_PKEY *made;
  } part{*key, selection, nullptr};
  constexpr auto make = [](const OSSL_PARAM params[], void *argument) {
    Part &of = *static_cast<Part *>(argument);
    of.made = make_fallback_pq_key(of.key.provider(), of.key.type(), of.selection, params);
    return of.made != nullptr ? 1 : 0;
  };
  EVP_PKEY_export(key->fallback(), selection, called_from_c<make>, &part);
  return PqKey::around(key->provider(), key->type(), part.made);
}

int get_params(void *pointer, OSSL_PARAM params[]) {
  PqKey *key = key_of(pointer);
  if (key->fallback() == nullptr) return refuse(PROV_R_MISSING_KEY);
  return EVP_PKEY_get_params(key->fallback(), params) == 1;
}
template <size_t kType>
const OSSL_PARAM *gettable_params(void *provider) {
  const EVP_KEYMGMT *keymgmt = fallback_pq_keymgmt(*static_cast<Provider *>(provider), kType);
  return keymgmt == nullptr ? nullptr : EVP_KEYMGMT_gettable_params(keymgmt);
}

// kKeyTypes is the same list as OpenSSL's. The core queries it without a provider context.
#define BYTES(name) OSSL_PARAM_octet_string(name, nullptr, 0)
const OSSL_PARAM kKeyTypes[] = {BYTES(kSeed), BYTES(OSSL_PKEY_PARAM_PUB_KEY),
                                BYTES(OSSL_PKEY_PARAM_PRIV_KEY), OSSL_PARAM_END};
#undef BYTES
// An SLH-DSA key does not keep its seed.
template <PqFamily kFamily>
const OSSL_PARAM *key_types(int selection) {
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return nullptr;
  return kFamily == PqFamily::kMlDsa ? kKeyTypes : kKeyTypes + 1;
}

// ---- Generation ----

struct Generation {
  Provider &provider;
  const PqType &type;
  EVP_PKEY_CTX *fallback;
  // The seed of an SLH-DSA key, if the caller has set one.
  std::array<uint8_t, 3 * kMostPqRandomBytes> seed;
  size_t seed_bytes = 0;
};

void free_generation(void *pointer) {
  Generation *generation = static_cast<Generation *>(pointer);
  if (generation == nullptr) return;
  EVP_PKEY_CTX_free(generation->fallback);
  OPENSSL_cleanse(generation->seed.data(), generation->seed.size());
  delete generation;
}

int set_generation_params(void *pointer, const OSSL_PARAM params[]) {
  if (params == nullptr || params->key == nullptr) return 1;
  Generation &generation = *static_cast<Generation *>(pointer);
  if (EVP_PKEY_CTX_set_params(generation.fallback, params) != 1) return 0;
  const OSSL_PARAM *const seed = OSSL_PARAM_locate_const(params, kSeed);
  if (seed == nullptr || generation.type.family != PqFamily::kSlhDsa) return 1;
  void *to = generation.seed.data();
  return OSSL_PARAM_get_octet_string(seed, &to, generation.seed.size(), &generation.seed_bytes);
}

template <size_t kType>
void *begin_generation(void *pointer, int, const OSSL_PARAM params[]) {
  Provider &provider = *static_cast<Provider *>(pointer);
  if (fallback_pq_keymgmt(provider, kType) == nullptr) return nullptr;
  std::unique_ptr<Generation, decltype(&free_generation)> generation(
      new Generation{provider, kPqTypes[kType], nullptr, {}}, free_generation);
  generation->fallback = EVP_PKEY_CTX_new_from_name(library_of_fallback(provider),
                                                    kPqTypes[kType].name, kFallbackProperties);
  const bool is_begun = generation->fallback != nullptr &&
                        EVP_PKEY_keygen_init(generation->fallback) == 1 &&
                        set_generation_params(generation.get(), params);
  return is_begun ? generation.release() : nullptr;
}

template <size_t kType>
const OSSL_PARAM *settable_generation_params(void *, void *provider) {
  const EVP_KEYMGMT *keymgmt = fallback_pq_keymgmt(*static_cast<Provider *>(provider), kType);
  return keymgmt == nullptr ? nullptr : EVP_KEYMGMT_gen_settable_params(keymgmt);
}

void *generate(void *pointer, OSSL_CALLBACK *, void *) {
  Generation &generation = *static_cast<Generation *>(pointer);
  if (generation.type.family == PqFamily::kSlhDsa)
    return PqKey::around(
        generation.provider, generation.type,
        generate_slh_dsa_key(generation.provider, generation.type,
                             {generation.seed.data(), generation.seed_bytes}, generation.fallback));
  EVP_PKEY *made = nullptr;
  if (EVP_PKEY_generate(generation.fallback, &made) != 1) {
    EVP_PKEY_free(made);
    return nullptr;
  }
  return PqKey::around(generation.provider, generation.type, made);
}

// load() implements OSSL_FUNC_keymgmt_load: it takes ownership of the key that one of our decoders
// has made.
void *load(const void *reference, size_t bytes) {
  if (reference == nullptr || bytes != sizeof(PqKey *)) return nullptr;
  // The parameter is const, but OpenSSL's own providers also set the reference to nullptr to mark
  // the key as taken.
  auto *const place = static_cast<PqKey **>(const_cast<void *>(reference));
  return std::exchange(*place, nullptr);
}

template <size_t kType>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_KEYMGMT_NEW, reinterpret_cast<Function>(called_from_c<new_key<kType>>)},
    {OSSL_FUNC_KEYMGMT_FREE, reinterpret_cast<Function>(called_from_c<free_key>)},
    {OSSL_FUNC_KEYMGMT_LOAD, reinterpret_cast<Function>(called_from_c<load>)},
    {OSSL_FUNC_KEYMGMT_HAS, reinterpret_cast<Function>(called_from_c<has>)},
    {OSSL_FUNC_KEYMGMT_MATCH, reinterpret_cast<Function>(called_from_c<match>)},
    {OSSL_FUNC_KEYMGMT_VALIDATE, reinterpret_cast<Function>(called_from_c<validate>)},
    {OSSL_FUNC_KEYMGMT_IMPORT, reinterpret_cast<Function>(called_from_c<import_key>)},
    {OSSL_FUNC_KEYMGMT_IMPORT_TYPES,
     reinterpret_cast<Function>(called_from_c<key_types<kPqTypes[kType].family>>)},
    {OSSL_FUNC_KEYMGMT_EXPORT, reinterpret_cast<Function>(called_from_c<export_key>)},
    {OSSL_FUNC_KEYMGMT_EXPORT_TYPES,
     reinterpret_cast<Function>(called_from_c<key_types<kPqTypes[kType].family>>)},
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
    {0, nullptr},
};

template <size_t kType>
constexpr OSSL_ALGORITHM row() {
  return {kPqTypes[kType].names, "provider=gpu", kFunctions<kType>, nullptr};
}

}  // namespace

const OSSL_ALGORITHM kMlDsaKeymgmtOperations[] = {
    row<kMlDsaTypes + 0>(),
    row<kMlDsaTypes + 1>(),
    row<kMlDsaTypes + 2>(),
    {nullptr, nullptr, nullptr, nullptr},
};
const OSSL_ALGORITHM kSlhDsaKeymgmtOperations[] = {
    row<kSlhDsaTypes + 0>(),
    row<kSlhDsaTypes + 1>(),
    row<kSlhDsaTypes + 2>(),
    row<kSlhDsaTypes + 3>(),
    row<kSlhDsaTypes + 4>(),
    row<kSlhDsaTypes + 5>(),
    row<kSlhDsaTypes + 6>(),
    row<kSlhDsaTypes + 7>(),
    row<kSlhDsaTypes + 8>(),
    row<kSlhDsaTypes + 9>(),
    row<kSlhDsaTypes + 10>(),
    row<kSlhDsaTypes + 11>(),
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
