// Generates and encodes ML-DSA and SLH-DSA keys for the tests, from OpenSSL 3.5 on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/decoder.h>
#include <openssl/encoder.h>

#include <string>

#include "provider/rsa/rsa_twins.h"

namespace provider_test {

struct FreeHash {
  void operator()(EVP_MD_CTX *context) const { O(EVP_MD_CTX_free)(context); }
};
using Hash = std::unique_ptr<EVP_MD_CTX, FreeHash>;

inline bool has_pq() {
  return 100 * O(OPENSSL_version_major)() + O(OPENSSL_version_minor)() >= 305;
}

// generate() generates a key from `seed`, or from random bytes if it is empty.
inline Pkey generate(Library &library, const char *type, const char *properties,
                     const Bytes &seed = {}) {
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), type, properties));
  OSSL_PARAM params[] = {
      {"seed", OSSL_PARAM_OCTET_STRING, const_cast<uint8_t *>(seed.data()), seed.size(), 0},
      OSSL_PARAM_END};
  EVP_PKEY *made = nullptr;
  if (context == nullptr || O(EVP_PKEY_keygen_init)(context.get()) != 1 ||
      (!seed.empty() && O(EVP_PKEY_CTX_set_params)(context.get(), params) != 1) ||
      O(EVP_PKEY_generate)(context.get(), &made) != 1)
    return nullptr;
  return Pkey(made);
}

inline Pkey key_from(Library &library, const char *type, const char *properties, int selection,
                     const OSSL_PARAM *params) {
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), type, properties));
  EVP_PKEY *made = nullptr;
  if (context == nullptr || O(EVP_PKEY_fromdata_init)(context.get()) != 1 ||
      O(EVP_PKEY_fromdata)(context.get(), &made, selection, const_cast<OSSL_PARAM *>(params)) != 1)
    return nullptr;
  return Pkey(made);
}

// written() encodes the key. The result is empty if that fails.
inline Bytes written(EVP_PKEY *key, int selection, const char *output, const char *structure) {
  OSSL_ENCODER_CTX *const context =
      O(OSSL_ENCODER_CTX_new_for_pkey)(key, selection, output, structure, nullptr);
  unsigned char *data = nullptr;
  size_t bytes = 0;
  Bytes all;
  if (O(OSSL_ENCODER_to_data)(context, &data, &bytes) == 1) all.assign(data, data + bytes);
  O(CRYPTO_free)(data, __FILE__, __LINE__);
  O(OSSL_ENCODER_CTX_free)(context);
  return all;
}

inline Pkey read_key(Library &library, const Bytes &file, const char *properties,
                     const char *input = "DER") {
  EVP_PKEY *key = nullptr;
  OSSL_DECODER_CTX *const context =
      O(OSSL_DECODER_CTX_new_for_pkey)(&key, input, nullptr, nullptr, 0, library.get(), properties);
  const unsigned char *at = file.data();
  size_t left = file.size();
  const bool done = O(OSSL_DECODER_from_data)(context, &at, &left) == 1;
  O(OSSL_DECODER_CTX_free)(context);
  return Pkey(done ? key : nullptr);
}

inline std::string provider_of(const Pkey &key) {
  const OSSL_PROVIDER *const provider =
      key == nullptr ? nullptr : O(EVP_PKEY_get0_provider)(key.get());
  return provider == nullptr ? "" : O(OSSL_PROVIDER_get0_name)(provider);
}

}  // namespace provider_test
