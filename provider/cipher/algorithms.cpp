// The ciphers' OSSL_ALGORITHM table and their dispatch tables.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/algorithms.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <array>
#include <bit>
#include <cstdio>
#include <string_view>
#include <utility>

#include "libcrypto/forward.h"
#include "provider/cipher/aead.h"
#include "provider/cipher/cipher.h"
#include "provider/dispatch.h"

namespace lanecrypt::provider {
namespace {

constexpr unsigned evp_mode(Mode mode) {
  switch (mode) {
    case Mode::kEcb:
      return EVP_CIPH_ECB_MODE;
    case Mode::kCbc:
    case Mode::kCs1:
    case Mode::kCs2:
    case Mode::kCs3:
      return EVP_CIPH_CBC_MODE;
    case Mode::kCtr:
      return EVP_CIPH_CTR_MODE;
    case Mode::kXts:
    case Mode::kXtsGb:
      return EVP_CIPH_XTS_MODE;
    case Mode::kCfb128:
    case Mode::kCfb8:
    case Mode::kCfb1:
      return EVP_CIPH_CFB_MODE;
    case Mode::kOfb:
      return EVP_CIPH_OFB_MODE;
    case Mode::kGcm:
      return EVP_CIPH_GCM_MODE;
    case Mode::kCcm:
      return EVP_CIPH_CCM_MODE;
    case Mode::kChaCha20:
    case Mode::kChaCha20Poly1305:
      break;
  }
  return EVP_CIPH_STREAM_CIPHER;
}

// row() derives all but the names from the mode's CipherInfo. OpenSSL reports ciphertext stealing
// as a block mode, though a message may have any length.
constexpr Algorithm row(const char *names, lc_cipher cipher, unsigned key_bytes,
                        unsigned since = 300) {
  const CipherInfo &info = cipher_info(cipher);
  return {.names = names,
          .cipher = cipher,
          .mode = evp_mode(info.mode),
          .key_bytes = key_bytes,
          .iv_bytes = info.iv_bytes,
          .block_bytes = info.granule_bytes == 16 || info.steals() ? 16u : 1u,
          .since = since};
}

}  // namespace

// Names, aliases and object identifiers are OpenSSL's. The identifiers are those of NIST, and of
// IEEE for XTS.
constexpr Algorithm kAlgorithms[kCipherCount] = {
    row("AES-128-ECB:2.16.840.1.101.3.4.1.1", LC_AES_ECB, 16),
    row("AES-192-ECB:2.16.840.1.101.3.4.1.21", LC_AES_ECB, 24),
    row("AES-256-ECB:2.16.840.1.101.3.4.1.41", LC_AES_ECB, 32),
    row("AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2", LC_AES_CBC, 16),
    row("AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22", LC_AES_CBC, 24),
    row("AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42", LC_AES_CBC, 32),
    row("AES-128-CTR", LC_AES_CTR, 16),
    row("AES-192-CTR", LC_AES_CTR, 24),
    row("AES-256-CTR", LC_AES_CTR, 32),
    row("AES-128-CFB:2.16.840.1.101.3.4.1.4", LC_AES_CFB128, 16),
    row("AES-192-CFB:2.16.840.1.101.3.4.1.24", LC_AES_CFB128, 24),
    row("AES-256-CFB:2.16.840.1.101.3.4.1.44", LC_AES_CFB128, 32),
    row("AES-128-OFB:2.16.840.1.101.3.4.1.3", LC_AES_OFB, 16),
    row("AES-192-OFB:2.16.840.1.101.3.4.1.23", LC_AES_OFB, 24),
    row("AES-256-OFB:2.16.840.1.101.3.4.1.43", LC_AES_OFB, 32),
    row("AES-128-XTS:1.3.111.2.1619.0.1.1", LC_AES_XTS, 32),
    row("AES-256-XTS:1.3.111.2.1619.0.1.2", LC_AES_XTS, 64),
    row("AES-128-CBC-CTS", LC_AES_CBC_CS1, 16),
    row("AES-192-CBC-CTS", LC_AES_CBC_CS1, 24),
    row("AES-256-CBC-CTS", LC_AES_CBC_CS1, 32),
    row("AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", LC_AES_GCM, 16),
    row("AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26", LC_AES_GCM, 24),
    row("AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", LC_AES_GCM, 32),
    row("AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7", LC_AES_CCM, 16),
    row("AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27", LC_AES_CCM, 24),
    row("AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47", LC_AES_CCM, 32),
    row("ChaCha20", LC_CHACHA20, 32),
    row("ChaCha20-Poly1305", LC_CHACHA20_POLY1305, 32),
    row("SM4-ECB:1.2.156.10197.1.104.1", LC_SM4_ECB, 16),
    row("SM4-CBC:SM4:1.2.156.10197.1.104.2", LC_SM4_CBC, 16),
    row("SM4-CTR:1.2.156.10197.1.104.7", LC_SM4_CTR, 16),
    row("SM4-CFB:SM4-CFB128:1.2.156.10197.1.104.4", LC_SM4_CFB128, 16),
    row("SM4-OFB:SM4-OFB128:1.2.156.10197.1.104.3", LC_SM4_OFB, 16),
    row("SM4-GCM:1.2.156.10197.1.104.8", LC_SM4_GCM, 16, 301),
    row("SM4-CCM:1.2.156.10197.1.104.9", LC_SM4_CCM, 16, 301),
    row("SM4-XTS:1.2.156.10197.1.104.10", LC_SM4_XTS_GB, 32, 302),
    row("CAMELLIA-128-ECB:0.3.4401.5.3.1.9.1", LC_CAMELLIA_ECB, 16),
    row("CAMELLIA-192-ECB:0.3.4401.5.3.1.9.21", LC_CAMELLIA_ECB, 24),
    row("CAMELLIA-256-ECB:0.3.4401.5.3.1.9.41", LC_CAMELLIA_ECB, 32),
    row("CAMELLIA-128-CBC:CAMELLIA128:1.2.392.200011.61.1.1.1.2", LC_CAMELLIA_CBC, 16),
    row("CAMELLIA-192-CBC:CAMELLIA192:1.2.392.200011.61.1.1.1.3", LC_CAMELLIA_CBC, 24),
    row("CAMELLIA-256-CBC:CAMELLIA256:1.2.392.200011.61.1.1.1.4", LC_CAMELLIA_CBC, 32),
    row("CAMELLIA-128-CTR:0.3.4401.5.3.1.9.9", LC_CAMELLIA_CTR, 16),
    row("CAMELLIA-192-CTR:0.3.4401.5.3.1.9.29", LC_CAMELLIA_CTR, 24),
    row("CAMELLIA-256-CTR:0.3.4401.5.3.1.9.49", LC_CAMELLIA_CTR, 32),
    row("CAMELLIA-128-CFB:0.3.4401.5.3.1.9.4", LC_CAMELLIA_CFB128, 16),
    row("CAMELLIA-192-CFB:0.3.4401.5.3.1.9.24", LC_CAMELLIA_CFB128, 24),
    row("CAMELLIA-256-CFB:0.3.4401.5.3.1.9.44", LC_CAMELLIA_CFB128, 32),
    row("CAMELLIA-128-OFB:0.3.4401.5.3.1.9.3", LC_CAMELLIA_OFB, 16),
    row("CAMELLIA-192-OFB:0.3.4401.5.3.1.9.23", LC_CAMELLIA_OFB, 24),
    row("CAMELLIA-256-OFB:0.3.4401.5.3.1.9.43", LC_CAMELLIA_OFB, 32),
    row("ARIA-128-ECB:1.2.410.200046.1.1.1", LC_ARIA_ECB, 16),
    row("ARIA-192-ECB:1.2.410.200046.1.1.6", LC_ARIA_ECB, 24),
    row("ARIA-256-ECB:1.2.410.200046.1.1.11", LC_ARIA_ECB, 32),
    row("ARIA-128-CBC:ARIA128:1.2.410.200046.1.1.2", LC_ARIA_CBC, 16),
    row("ARIA-192-CBC:ARIA192:1.2.410.200046.1.1.7", LC_ARIA_CBC, 24),
    row("ARIA-256-CBC:ARIA256:1.2.410.200046.1.1.12", LC_ARIA_CBC, 32),
    row("ARIA-128-CTR:1.2.410.200046.1.1.5", LC_ARIA_CTR, 16),
    row("ARIA-192-CTR:1.2.410.200046.1.1.10", LC_ARIA_CTR, 24),
    row("ARIA-256-CTR:1.2.410.200046.1.1.15", LC_ARIA_CTR, 32),
    row("ARIA-128-CFB:1.2.410.200046.1.1.3", LC_ARIA_CFB128, 16),
    row("ARIA-192-CFB:1.2.410.200046.1.1.8", LC_ARIA_CFB128, 24),
    row("ARIA-256-CFB:1.2.410.200046.1.1.13", LC_ARIA_CFB128, 32),
    row("ARIA-128-OFB:1.2.410.200046.1.1.4", LC_ARIA_OFB, 16),
    row("ARIA-192-OFB:1.2.410.200046.1.1.9", LC_ARIA_OFB, 24),
    row("ARIA-256-OFB:1.2.410.200046.1.1.14", LC_ARIA_OFB, 32),
    row("ARIA-128-GCM:1.2.410.200046.1.1.34", LC_ARIA_GCM, 16),
    row("ARIA-192-GCM:1.2.410.200046.1.1.35", LC_ARIA_GCM, 24),
    row("ARIA-256-GCM:1.2.410.200046.1.1.36", LC_ARIA_GCM, 32),
    row("ARIA-128-CCM:1.2.410.200046.1.1.37", LC_ARIA_CCM, 16),
    row("ARIA-192-CCM:1.2.410.200046.1.1.38", LC_ARIA_CCM, 24),
    row("ARIA-256-CCM:1.2.410.200046.1.1.39", LC_ARIA_CCM, 32),
};

namespace {

// has_name_of_its_mode() says whether the first name is the one that kCipherInfos gives:
// BLOCK-BITS-MODE, or the mode's name alone.
constexpr bool has_name_of_its_mode(const Algorithm &algorithm) {
  const CipherInfo &info = algorithm.traits();
  std::string_view name = algorithm.names;
  name = name.substr(0, name.find(':'));
  if (info.is_block_cipher()) {
    const auto take = [&](std::string_view front) {
      const bool is_there = name.starts_with(front);
      if (is_there) name.remove_prefix(front.size());
      return is_there;
    };
    const unsigned one_key_bytes = algorithm.key_bytes / info.keys;
    if (!take(info.block->title) || !take("-")) return false;
    if (info.block->names_bits() && !take(one_key_bytes == 16   ? "128-"
                                          : one_key_bytes == 24 ? "192-"
                                                                : "256-"))
      return false;
  }
  return name == info.openssl && info.takes_key(algorithm.key_bytes);
}

// follow_from_modes() says whether every row has a valid name and none occurs twice. As there are
// kCipherCount rows, each mode then has one row for each of its key sizes.
constexpr bool follow_from_modes() {
  for (int n = 0; n < kCipherCount; ++n) {
    if (!has_name_of_its_mode(kAlgorithms[n]) || !leads_cipher(kAlgorithms[n].traits()))
      return false;
    for (int other = 0; other < n; ++other)
      if (std::string_view(kAlgorithms[other].names) == kAlgorithms[n].names) return false;
  }
  return true;
}
static_assert(follow_from_modes());

CipherContext &context_of(void *pointer) { return *static_cast<CipherContext *>(pointer); }

template <int kIndex>
void *newctx(void *provider) {
  return new_cipher_context(*static_cast<Provider *>(provider), kIndex);
}
void freectx(void *context) { free_cipher_context(static_cast<CipherContext *>(context)); }
void *dupctx(void *context) { return copy_cipher_context(context_of(context)); }

// The functions that depend on the kind of cipher are selected here at compile time, once for each
// cipher, because a message of a few blocks makes four calls.
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
  return update_cipher<kAlgorithms[kIndex].tracking()>(context_of(context), out, out_bytes,
                                                       out_size, in, in_bytes);
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

// A context's parameters are those of the default provider's context, whatever its version
// supports.
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

template <int kIndex>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_CIPHER_NEWCTX, reinterpret_cast<Function>(called_from_c<newctx<kIndex>>)},
    {OSSL_FUNC_CIPHER_FREECTX, reinterpret_cast<Function>(called_from_c<freectx>)},
    {OSSL_FUNC_CIPHER_DUPCTX, reinterpret_cast<Function>(called_from_c<dupctx>)},
    {OSSL_FUNC_CIPHER_ENCRYPT_INIT, reinterpret_cast<Function>(called_from_c<init<kIndex, true>>)},
    {OSSL_FUNC_CIPHER_DECRYPT_INIT, reinterpret_cast<Function>(called_from_c<init<kIndex, false>>)},
    {OSSL_FUNC_CIPHER_UPDATE, reinterpret_cast<Function>(called_from_c<update<kIndex>>)},
    {OSSL_FUNC_CIPHER_FINAL, reinterpret_cast<Function>(called_from_c<final<kIndex>>)},
    {OSSL_FUNC_CIPHER_CIPHER, reinterpret_cast<Function>(called_from_c<cipher>)},
    {OSSL_FUNC_CIPHER_GETTABLE_PARAMS, reinterpret_cast<Function>(called_from_c<gettable_params>)},
    {OSSL_FUNC_CIPHER_GET_PARAMS, reinterpret_cast<Function>(called_from_c<get_params<kIndex>>)},
    {OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<gettable_ctx_params<kIndex>>)},
    {OSSL_FUNC_CIPHER_GET_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<get_ctx_params<kIndex>>)},
    {OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<settable_ctx_params<kIndex>>)},
    {OSSL_FUNC_CIPHER_SET_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<set_ctx_params<kIndex>>)},
    {0, nullptr},
};

constexpr char kProperties[] = "provider=gpu";

// is_built_in() says whether libcrypto was built with the cipher of a mode. Its default provider
// then has it, and libcrypto exports the functions from before there were providers. Their symbols
// give the answer without a query to a provider, which the program may load later.
bool is_built_in(const CipherInfo &info) {
  if (info.block == kBlockCiphers) return true;  // AES always is
  char function[48];
  std::snprintf(function, sizeof function, "EVP_%s%s%s",
                info.block == nullptr ? info.name : info.block->name,
                info.block != nullptr && info.block->names_bits() ? "_128" : "",
                info.block == nullptr ? "" : "_ecb");
  return libcrypto_exports(function);
}

// make_operations() returns the ciphers that the running OpenSSL has too, because OpenSSL does
// everything that no device does. An empty row terminates the list.
template <size_t... kIndex>
std::array<OSSL_ALGORITHM, kCipherCount + 1> make_operations(std::index_sequence<kIndex...>) {
  const unsigned version = 100 * OPENSSL_version_major() + OPENSSL_version_minor();
  std::array<OSSL_ALGORITHM, kCipherCount + 1> made = {};
  size_t count = 0;
  // The rows of one block cipher are consecutive.
  const BlockCipher *block = nullptr;
  bool has_block = false;
  const auto add = [&](int index, const OSSL_DISPATCH *functions) {
    const CipherInfo &info = kAlgorithms[index].traits();
    if (info.block == nullptr || info.block != block) has_block = is_built_in(info);
    block = info.block;
    if (has_block && kAlgorithms[index].since <= version)
      made[count++] = {kAlgorithms[index].names, kProperties, functions, nullptr};
  };
  (add(kIndex, kFunctions<kIndex>), ...);
  return made;
}

}  // namespace

const OSSL_ALGORITHM *cipher_operations() {
  static const auto operations = make_operations(std::make_index_sequence<kCipherCount>());
  return operations.data();
}

}  // namespace lanecrypt::provider
