// Encoders for ML-DSA keys, and a text encoder for SLH-DSA keys. Without them libcrypto would
// export our key and import it into the default provider before it writes it. That import drops
// parts if the default provider's settings say so (ml-dsa.prefer_seed). Those settings are meant
// for a key that comes from a file, and not for one that is only written. So these encoders have
// the default provider write its own key, which each of our keys holds.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/bio.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/encoder.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <iterator>
#include <memory>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/pq/pq_key.h"
#include "provider/pq/pq_operations.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

// Form is an output format of an encoder. Text has no structure.
struct Form {
  const char *output, *structure, *properties;
  int part;  // OSSL_KEYMGMT_SELECT_PRIVATE_KEY or _PUBLIC_KEY; 0: any part of a key
};
#define FORM(output, structure, part)                                         \
  {                                                                           \
    output, structure, "provider=gpu,output=" output ",structure=" structure, \
        OSSL_KEYMGMT_SELECT_##part                                            \
  }
// If the caller names no structure, libcrypto takes the last one that fits.
constexpr Form kForms[] = {
    FORM("der", "EncryptedPrivateKeyInfo", PRIVATE_KEY),
    FORM("pem", "EncryptedPrivateKeyInfo", PRIVATE_KEY),
    FORM("der", "PrivateKeyInfo", PRIVATE_KEY),
    FORM("pem", "PrivateKeyInfo", PRIVATE_KEY),
    FORM("der", "SubjectPublicKeyInfo", PUBLIC_KEY),
    FORM("pem", "SubjectPublicKeyInfo", PUBLIC_KEY),
    {"text", nullptr, "provider=gpu,output=text", 0},
};
#undef FORM

struct FreeParams {
  void operator()(OSSL_PARAM *params) const { OSSL_PARAM_free(params); }
};

struct Encoder {
  Provider &provider;
  const Form &form;
  // The parameters for the default provider's encoder, for example the cipher of an encrypted key.
  std::unique_ptr<OSSL_PARAM, FreeParams> params;
};

template <size_t kForm>
void *new_context(void *provider) {
  return new Encoder{*static_cast<Provider *>(provider), kForms[kForm], nullptr};
}
void free_context(void *encoder) { delete static_cast<Encoder *>(encoder); }

const OSSL_PARAM *settable_params(void *) {
  static const OSSL_PARAM kAll[] = {
      OSSL_PARAM_utf8_string(OSSL_ENCODER_PARAM_CIPHER, nullptr, 0),
      OSSL_PARAM_utf8_string(OSSL_ENCODER_PARAM_PROPERTIES, nullptr, 0),
      OSSL_PARAM_utf8_string("output-formats", nullptr, 0), OSSL_PARAM_END};
  return kAll;
}

// has_cipher() says whether the cipher that `params` name can be fetched, or none is named.
bool has_cipher(Provider &provider, const OSSL_PARAM params[]) {
  const OSSL_PARAM *const cipher = OSSL_PARAM_locate_const(params, OSSL_ENCODER_PARAM_CIPHER);
  const OSSL_PARAM *const query = OSSL_PARAM_locate_const(params, OSSL_ENCODER_PARAM_PROPERTIES);
  const auto text_of = [](const OSSL_PARAM *param) {
    return param == nullptr || param->data_type != OSSL_PARAM_UTF8_STRING
               ? nullptr
               : static_cast<const char *>(param->data);
  };
  if (cipher == nullptr) return true;
  const char *const name = text_of(cipher);
  if (name == nullptr) return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  EVP_CIPHER *const found = EVP_CIPHER_fetch(provider.program, name, text_of(query));
  EVP_CIPHER_free(found);
  return found != nullptr;
}

// set_params() implements OSSL_FUNC_encoder_set_ctx_params. libcrypto gives every encoder the
// parameters of all encoders. A cipher that does not exist must not be stored, because every later
// use of the encoder would fail.
int set_params(void *pointer, const OSSL_PARAM params[]) {
  if (params == nullptr || params->key == nullptr) return 1;
  Encoder &encoder = *static_cast<Encoder *>(pointer);
  if (!has_cipher(encoder.provider, params)) return 0;
  // The merged list points into both input lists, so it is copied.
  const std::unique_ptr<OSSL_PARAM, FreeParams> merged(
      OSSL_PARAM_merge(encoder.params.get(), params));
  if (merged == nullptr) return 0;
  OSSL_PARAM *const copy = OSSL_PARAM_dup(merged.get());
  if (copy == nullptr) return 0;
  encoder.params.reset(copy);
  return 1;
}

// As in OpenSSL's own encoders, a key pair is selected as a private key.
template <size_t kForm>
int does_selection(void *, int selection) {
  constexpr int kPart = kForms[kForm].part;
  if (selection == 0 || kPart == 0) return 1;
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0)
    return kPart == OSSL_KEYMGMT_SELECT_PRIVATE_KEY;
  return (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0 &&
         kPart == OSSL_KEYMGMT_SELECT_PUBLIC_KEY;
}

int encode(void *pointer, OSSL_CORE_BIO *out, const void *key_pointer, const OSSL_PARAM abstract[],
           int selection, OSSL_PASSPHRASE_CALLBACK *passphrase, void *argument) {
  const Encoder &encoder = *static_cast<const Encoder *>(pointer);
  const PqKey *const key = static_cast<const PqKey *>(key_pointer);
  if (abstract != nullptr) return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  if (key == nullptr || key->fallback() == nullptr) return refuse(PROV_R_MISSING_KEY);
  // Given a key of the default provider, libcrypto prefers that provider's encoders, whatever the
  // property query is.
  const std::unique_ptr<OSSL_ENCODER_CTX, decltype(&OSSL_ENCODER_CTX_free)> context(
      OSSL_ENCODER_CTX_new_for_pkey(key->fallback(), selection, encoder.form.output,
                                    encoder.form.structure, kFallbackProperties),
      OSSL_ENCODER_CTX_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_from_core_bio(encoder.provider.fallback, out), BIO_free);
  return context != nullptr && bio != nullptr &&
         (encoder.params == nullptr ||
          OSSL_ENCODER_CTX_set_params(context.get(), encoder.params.get()) == 1) &&
         (passphrase == nullptr ||
          OSSL_ENCODER_CTX_set_passphrase_cb(context.get(), passphrase, argument) == 1) &&
         OSSL_ENCODER_to_bio(context.get(), bio.get()) == 1;
}

template <size_t kForm>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_ENCODER_NEWCTX, reinterpret_cast<Function>(called_from_c<new_context<kForm>>)},
    {OSSL_FUNC_ENCODER_FREECTX, reinterpret_cast<Function>(called_from_c<free_context>)},
    {OSSL_FUNC_ENCODER_SETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<settable_params>)},
    {OSSL_FUNC_ENCODER_SET_CTX_PARAMS, reinterpret_cast<Function>(called_from_c<set_params>)},
    {OSSL_FUNC_ENCODER_DOES_SELECTION,
     reinterpret_cast<Function>(called_from_c<does_selection<kForm>>)},
    {OSSL_FUNC_ENCODER_ENCODE, reinterpret_cast<Function>(called_from_c<encode>)},
    {0, nullptr},
};

template <size_t kType, size_t kForm>
constexpr OSSL_ALGORITHM row() {
  return {kPqTypes[kType].names, kForms[kForm].properties, kFunctions<kForm>, nullptr};
}
#define ROWS(type)                                                                                \
  row<type, 0>(), row<type, 1>(), row<type, 2>(), row<type, 3>(), row<type, 4>(), row<type, 5>(), \
      row<type, 6>()
static_assert(std::size(kForms) == 7);

}  // namespace

const OSSL_ALGORITHM kMlDsaEncoderOperations[] = {
    ROWS(kMlDsaTypes + 0),
    ROWS(kMlDsaTypes + 1),
    ROWS(kMlDsaTypes + 2),
    {nullptr, nullptr, nullptr, nullptr},
};
#undef ROWS

// The import of SLH-DSA keys keeps every part, so libcrypto may write them with the default
// provider's encoders. But that requires an export of a key, and a text encoding may be requested
// of parameters alone.
#define TEXT(type) row<kSlhDsaTypes + type, 6>()
const OSSL_ALGORITHM kSlhDsaEncoderOperations[] = {
    TEXT(0),
    TEXT(1),
    TEXT(2),
    TEXT(3),
    TEXT(4),
    TEXT(5),
    TEXT(6),
    TEXT(7),
    TEXT(8),
    TEXT(9),
    TEXT(10),
    TEXT(11),
    {nullptr, nullptr, nullptr, nullptr},
};
#undef TEXT

}  // namespace lanecrypt::provider
