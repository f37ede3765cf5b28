// The text encoder for the parameters of an RSA key. OpenSSL's encoders import another provider's
// key before they print it. Their encoding of parameters also reads the modulus, which is missing
// there, and so crashes the process. So this encoder prints the default provider's key. All other
// formats are left to OpenSSL's encoders.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/bio.h>
#include <openssl/core_dispatch.h>
#include <openssl/evp.h>

#include "provider/dispatch.h"
#include "provider/refusal.h"
#include "provider/rsa/rsa_key.h"
#include "provider/rsa/rsa_operations.h"

namespace lanecrypt::provider {
namespace {

// An encoder has no settings, so the provider context serves as its context.
void *new_context(void *provider) { return provider; }
void free_context(void *) {}

int does_selection(void *, int selection) {
  return (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0 ? 1 : 0;
}

int encode(void *pointer, OSSL_CORE_BIO *out, const void *key_pointer, const OSSL_PARAM[],
           int selection, OSSL_PASSPHRASE_CALLBACK *, void *) {
  const RsaKey *key = static_cast<const RsaKey *>(key_pointer);
  // OpenSSL's own encoder crashes without a modulus.
  if (key == nullptr || key->bits() == 0) return refuse(PROV_R_MISSING_KEY);
  if (!does_selection(pointer, selection)) return refuse(ERR_R_PASSED_INVALID_ARGUMENT);
  BIO *bio = BIO_new_from_core_bio(static_cast<Provider *>(pointer)->fallback, out);
  if (bio == nullptr) return 0;
  const int printed = EVP_PKEY_print_params(bio, key->fallback(), 0, nullptr);
  BIO_free(bio);
  return printed == 1 ? 1 : 0;
}

const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_ENCODER_NEWCTX, reinterpret_cast<Function>(called_from_c<new_context>)},
    {OSSL_FUNC_ENCODER_FREECTX, reinterpret_cast<Function>(called_from_c<free_context>)},
    {OSSL_FUNC_ENCODER_DOES_SELECTION, reinterpret_cast<Function>(called_from_c<does_selection>)},
    {OSSL_FUNC_ENCODER_ENCODE, reinterpret_cast<Function>(called_from_c<encode>)},
    {0, nullptr},
};

}  // namespace

const OSSL_ALGORITHM kRsaEncoderOperations[] = {
    {"RSA:rsaEncryption:1.2.840.113549.1.1.1", "provider=gpu,output=text", kFunctions, nullptr},
    {"RSA-PSS:RSASSA-PSS:1.2.840.113549.1.1.10", "provider=gpu,output=text", kFunctions, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
