// The ciphers as OpenSSL's core sees them.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/algorithms.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <array>
#include <utility>

#include "provider/cipher/aead.h"
#include "provider/cipher/cipher.h"

namespace lanecrypt::provider {

// Names, aliases and object identifiers are OpenSSL's (NIST's, and IEEE's for XTS).
constexpr Algorithm kAlgorithms[kCipherCount] = {
    {"AES-128-ECB:2.16.840.1.101.3.4.1.1", LC_AES_ECB, EVP_CIPH_ECB_MODE, 16, 0, 16},
    {"AES-192-ECB:2.16.840.1.101.3.4.1.21", LC_AES_ECB, EVP_CIPH_ECB_MODE, 24, 0, 16},
    {"AES-256-ECB:2.16.840.1.101.3.4.1.41", LC_AES_ECB, EVP_CIPH_ECB_MODE, 32, 0, 16},
    {"AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2", LC_AES_CBC, EVP_CIPH_CBC_MODE, 16, 16, 16},
    {"AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22", LC_AES_CBC, EVP_CIPH_CBC_MODE, 24, 16, 16},
    {"AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42", LC_AES_CBC, EVP_CIPH_CBC_MODE, 32, 16, 16},
    {"AES-128-CTR", LC_AES_CTR, EVP_CIPH_CTR_MODE, 16, 16, 1},
    {"AES-192-CTR", LC_AES_CTR, EVP_CIPH_CTR_MODE, 24, 16, 1},
    {"AES-256-CTR", LC_AES_CTR, EVP_CIPH_CTR_MODE, 32, 16, 1},
    {"AES-128-CFB:2.16.840.1.101.3.4.1.4", LC_AES_CFB128, EVP_CIPH_CFB_MODE, 16, 16, 1},
    {"AES-192-CFB:2.16.840.1.101.3.4.1.24", LC_AES_CFB128, EVP_CIPH_CFB_MODE, 24, 16, 1},
    {"AES-256-CFB:2.16.840.1.101.3.4.1.44", LC_AES_CFB128, EVP_CIPH_CFB_MODE, 32, 16, 1},
    {"AES-128-CFB8", LC_AES_CFB8, EVP_CIPH_CFB_MODE, 16, 16, 1},
    {"AES-192-CFB8", LC_AES_CFB8, EVP_CIPH_CFB_MODE, 24, 16, 1},
    {"AES-256-CFB8", LC_AES_CFB8, EVP_CIPH_CFB_MODE, 32, 16, 1},
    {"AES-128-CFB1", LC_AES_CFB1, EVP_CIPH_CFB_MODE, 16, 16, 1},
    {"AES-192-CFB1", LC_AES_CFB1, EVP_CIPH_CFB_MODE, 24, 16, 1},
    {"AES-256-CFB1", LC_AES_CFB1, EVP_CIPH_CFB_MODE, 32, 16, 1},
    {"AES-128-OFB:2.16.840.1.101.3.4.1.3", LC_AES_OFB, EVP_CIPH_OFB_MODE, 16, 16, 1},
    {"AES-192-OFB:2.16.840.1.101.3.4.1.23", LC_AES_OFB, EVP_CIPH_OFB_MODE, 24, 16, 1},
    {"AES-256-OFB:2.16.840.1.101.3.4.1.43", LC_AES_OFB, EVP_CIPH_OFB_MODE, 32, 16, 1},
    {"AES-128-XTS:1.3.111.2.1619.0.1.1", LC_AES_XTS, EVP_CIPH_XTS_MODE, 32, 16, 1},
    {"AES-256-XTS:1.3.111.2.1619.0.1.2", LC_AES_XTS, EVP_CIPH_XTS_MODE, 64, 16, 1},
    {"AES-128-CBC-CTS", LC_AES_CBC_CS1, EVP_CIPH_CBC_MODE, 16, 16, 16},
    {"AES-192-CBC-CTS", LC_AES_CBC_CS1, EVP_CIPH_CBC_MODE, 24, 16, 16},
    {"AES-256-CBC-CTS", LC_AES_CBC_CS1, EVP_CIPH_CBC_MODE, 32, 16, 16},
    {"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", LC_AES_GCM, EVP_CIPH_GCM_MODE, 16, 12, 1},
    {"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26", LC_AES_GCM, EVP_CIPH_GCM_MODE, 24, 12, 1},
    {"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", LC_AES_GCM, EVP_CIPH_GCM_MODE, 32, 12, 1},
    {"AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7", LC_AES_CCM, EVP_CIPH_CCM_MODE, 16, 12, 1},
    {"AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27", LC_AES_CCM, EVP_CIPH_CCM_MODE, 24, 12, 1},
    {"AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47", LC_AES_CCM, EVP_CIPH_CCM_MODE, 32, 12, 1},
    {"ChaCha20", LC_CHACHA20, EVP_CIPH_STREAM_CIPHER, 32, 16, 1},
    {"ChaCha20-Poly1305", LC_CHACHA20_POLY1305, EVP_CIPH_STREAM_CIPHER, 32, 12, 1},
};

namespace {

CipherContext &context_of(void *pointer) { return *static_cast<CipherContext *>(pointer); }

template <int kIndex>
void *newctx(void *provider) {
  return new_cipher_context(*static_cast<Provider *>(provider), kIndex);
}
void freectx(void *context) { free_cipher_context(static_cast<CipherContext *>(context)); }
void *dupctx(void *context) { return copy_cipher_context(context_of(context)); }

// What a call does by its kind of cipher is chosen here, for each cipher once: a message
// of a few blocks has four calls.
template <int kIndex>
constexpr bool kIsAead = kAlgorithms[kIndex].is_aead();

template <int kIndex, bool kEncrypt>
int init(void *context, const unsigned char *key, size_t key_bytes, const unsigned char *iv,
         size_t iv_bytes, const OSSL_PARAM params[]) {
  if constexpr (kIsAead<kIndex>)
    return init_aead<kEncrypt>(context_of(context), key, key_bytes, iv, iv_bytes, params);
  else
    return init_stream(context_of(context), key, key_bytes, iv, iv_bytes, params, kEncrypt);
}
template <int kIndex>
int update(void *context, unsigned char *out, size_t *out_bytes, size_t out_size,
           const unsigned char *in, size_t in_bytes) {
  return update_cipher<kAlgorithms[kIndex].passing()>(context_of(context), out, out_bytes, out_size,
                                                      in, in_bytes);
}
template <int kIndex>
int final(void *context, unsigned char *out, size_t *out_bytes, size_t out_size) {
  if constexpr (kIsAead<kIndex>)
    return finish_aead(context_of(context), out, out_bytes);
  else
    return finish_stream(context_of(context), out, out_bytes, out_size);
}
int cipher(void *context, unsigned char *out, size_t *out_bytes, size_t out_size,
           const unsigned char *in, size_t in_bytes) {
  return cipher_at_once(context_of(context), out, out_bytes, out_size, in, in_bytes);
}

const OSSL_PARAM kGettable[] = {
    {OSSL_CIPHER_PARAM_MODE, OSSL_PARAM_UNSIGNED_INTEGER, nullptr, sizeof(unsigned), 0},
    {OSSL_CIPHER_PARAM_KEYLEN, OSSL_PARAM_UNSIGNED_INTEGER, nullptr, sizeof(size_t), 0},
    {OSSL_CIPHER_PARAM_IVLEN, OSSL_PARAM_UNSIGNED_INTEGER, nullptr, sizeof(size_t), 0},
    {OSSL_CIPHER_PARAM_BLOCK_SIZE, OSSL_PARAM_UNSIGNED_INTEGER, nullptr, sizeof(size_t), 0},
    {OSSL_CIPHER_PARAM_AEAD, OSSL_PARAM_INTEGER, nullptr, sizeof(int), 0},
    {OSSL_CIPHER_PARAM_CUSTOM_IV, OSSL_PARAM_INTEGER, nullptr, sizeof(int), 0},
    {OSSL_CIPHER_PARAM_CTS, OSSL_PARAM_INTEGER, nullptr, sizeof(int), 0},
    {OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, OSSL_PARAM_INTEGER, nullptr, sizeof(int), 0},
    {OSSL_CIPHER_PARAM_HAS_RAND_KEY, OSSL_PARAM_INTEGER, nullptr, sizeof(int), 0},
    OSSL_PARAM_END,
};
const OSSL_PARAM *gettable_params(void *) { return kGettable; }

template <int kIndex>
int get_params(OSSL_PARAM params[]) {
  const Algorithm &algorithm = kAlgorithms[kIndex];
  bool ok = true;
  OSSL_PARAM *param = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_MODE);
  if (param != nullptr) ok = OSSL_PARAM_set_uint(param, algorithm.mode);
  const struct {
    const char *name;
    size_t bytes;
  } sizes[] = {{OSSL_CIPHER_PARAM_KEYLEN, algorithm.key_bytes},
               {OSSL_CIPHER_PARAM_IVLEN, algorithm.iv_bytes},
               {OSSL_CIPHER_PARAM_BLOCK_SIZE, algorithm.block_bytes}};
  for (const auto &size : sizes)
    if (ok && (param = OSSL_PARAM_locate(params, size.name)) != nullptr)
      ok = OSSL_PARAM_set_size_t(param, size.bytes);
  const struct {
    const char *name;
    bool is_set;
  } flags[] = {{OSSL_CIPHER_PARAM_AEAD, algorithm.traits().is_aead},
               {OSSL_CIPHER_PARAM_CUSTOM_IV, algorithm.has_custom_iv()},
               {OSSL_CIPHER_PARAM_CTS, algorithm.traits().steals()},
               {OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, false},
               {OSSL_CIPHER_PARAM_HAS_RAND_KEY, false}};
  for (const auto &flag : flags)
    if (ok && (param = OSSL_PARAM_locate(params, flag.name)) != nullptr)
      ok = OSSL_PARAM_set_int(param, flag.is_set);
  if (!ok) ERR_raise(ERR_LIB_PROV, PROV_R_FAILED_TO_SET_PARAMETER);
  return ok ? 1 : 0;
}

// A context's parameters are those of OpenSSL's own context, whatever its
// version knows.
template <int kIndex>
const OSSL_PARAM *gettable_ctx_params(void *, void *provider) {
  const FallbackCipher *cipher = fallback_cipher(*static_cast<Provider *>(provider), kIndex);
  return cipher == nullptr ? nullptr : cipher->gettable();
}
template <int kIndex>
const OSSL_PARAM *settable_ctx_params(void *, void *provider) {
  const FallbackCipher *cipher = fallback_cipher(*static_cast<Provider *>(provider), kIndex);
  return cipher == nullptr ? nullptr : cipher->settable();
}
template <int kIndex>
int get_ctx_params(void *context, OSSL_PARAM params[]) {
  return (kIsAead<kIndex> ? get_aead_params : get_stream_params)(context_of(context), params);
}
template <int kIndex>
int set_ctx_params(void *context, const OSSL_PARAM params[]) {
  return (kIsAead<kIndex> ? set_aead_params : set_stream_params)(context_of(context), params);
}

using Function = void (*)();
template <int kIndex>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_CIPHER_NEWCTX, reinterpret_cast<Function>(newctx<kIndex>)},
    {OSSL_FUNC_CIPHER_FREECTX, reinterpret_cast<Function>(freectx)},
    {OSSL_FUNC_CIPHER_DUPCTX, reinterpret_cast<Function>(dupctx)},
    {OSSL_FUNC_CIPHER_ENCRYPT_INIT, reinterpret_cast<Function>(init<kIndex, true>)},
    {OSSL_FUNC_CIPHER_DECRYPT_INIT, reinterpret_cast<Function>(init<kIndex, false>)},
    {OSSL_FUNC_CIPHER_UPDATE, reinterpret_cast<Function>(update<kIndex>)},
    {OSSL_FUNC_CIPHER_FINAL, reinterpret_cast<Function>(final<kIndex>)},
    {OSSL_FUNC_CIPHER_CIPHER, reinterpret_cast<Function>(cipher)},
    {OSSL_FUNC_CIPHER_GETTABLE_PARAMS, reinterpret_cast<Function>(gettable_params)},
    {OSSL_FUNC_CIPHER_GET_PARAMS, reinterpret_cast<Function>(get_params<kIndex>)},
    {OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, reinterpret_cast<Function>(gettable_ctx_params<kIndex>)},
    {OSSL_FUNC_CIPHER_GET_CTX_PARAMS, reinterpret_cast<Function>(get_ctx_params<kIndex>)},
    {OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, reinterpret_cast<Function>(settable_ctx_params<kIndex>)},
    {OSSL_FUNC_CIPHER_SET_CTX_PARAMS, reinterpret_cast<Function>(set_ctx_params<kIndex>)},
    {0, nullptr},
};

constexpr char kProperties[] = "provider=gpu";

template <size_t... kIndex>
std::array<OSSL_ALGORITHM, kCipherCount + 1> make_operations(std::index_sequence<kIndex...>) {
  return {{{kAlgorithms[kIndex].names, kProperties, kFunctions<kIndex>, nullptr}...,
           {nullptr, nullptr, nullptr, nullptr}}};
}

}  // namespace

const OSSL_ALGORITHM *cipher_operations() {
  static const auto operations = make_operations(std::make_index_sequence<kCipherCount>());
  return operations.data();
}

}  // namespace lanecrypt::provider
