// The life of a cipher context: keys, IVs and parameters. OpenSSL's own context gets all of them.
// This file keeps what bulk processing on a device needs in addition.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/cipher.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>
#include <strings.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

#include "provider/cipher/aead_message.h"
#include "provider/cipher/ccm.h"
#include "provider/cipher/random_generator.h"
#include "provider/cipher/stream_position.h"
#include "provider/find_param.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

// note_params() notes parameters that OpenSSL's context has accepted. In TLS up to 1.2 the cipher
// pads records and removes the MAC. OpenSSL's SM4-XTS context does not report which standard it
// follows.
void note_params(CipherContext &context, const OSSL_PARAM params[]) {
  // OSSL_CIPHER_PARAM_XTS_STANDARD, which the headers define only from OpenSSL 3.2 on.
  if (const OSSL_PARAM *standard = find_param(params, "xts_standard");
      standard != nullptr && standard->data_type == OSSL_PARAM_UTF8_STRING &&
      standard->data != nullptr)
    context.is_ieee_xts = strcasecmp(static_cast<const char *>(standard->data), "IEEE") == 0;
  unsigned version = 0;
  const OSSL_PARAM *param = find_param(params, OSSL_CIPHER_PARAM_TLS_VERSION);
  if (param != nullptr && OSSL_PARAM_get_uint(param, &version)) context.tls_records = version > 0;
}

// allocate_context() keeps the key in memory that a child of fork() keeps too, because the child
// may continue what its parent has begun.
CipherContext *allocate_context() {
  CipherContext *context = new CipherContext{};
  context->key_memory = secure::KeyMemory(kMostKeyBytes, secure::KeyMemory::Fork::kKept);
  context->key = context->key_memory.data();
  if (context->key != nullptr) return context;
  delete context;
  (void)refuse_without_memory();
  return nullptr;
}

}  // namespace

CipherContext *new_cipher_context(Provider &provider, int index) {
  CipherContext *context = allocate_context();
  if (context == nullptr) return nullptr;
  context->provider = &provider;
  context->index = index;
  // For ciphertext stealing the updates are counted, and for CCM the data before the text are kept.
  if (!context->algorithm().traits().steals() && !context->algorithm().is_ccm())
    context->pass_below = std::min<uint64_t>(provider.settings.least_device_bytes(), INT_MAX);
  context->counts = &provider.counters.own_line();
  if (!context->fallback.make(provider, index)) {
    free_cipher_context(context);
    return nullptr;
  }
  return context;
}

CipherContext *copy_cipher_context(const CipherContext &context) {
  CipherContext *copy = allocate_context();
  if (copy == nullptr) return nullptr;
  uint8_t *const key = copy->key;
  static_cast<CipherState &>(*copy) = context;
  copy->key = key;
  std::memcpy(key, context.key, kMostKeyBytes);
  copy->aead.message = nullptr;
  copy->ccm.aad = nullptr;
  if (!copy->fallback.make_copy_of(context.fallback) ||
      (context.aead.message != nullptr &&
       (copy->aead.message = copy_message(*context.aead.message)) == nullptr) ||
      !copy_ccm(context, *copy)) {
    free_cipher_context(copy);
    return nullptr;
  }
  return copy;
}

void free_cipher_context(CipherContext *context) {
  if (context == nullptr) return;
  free_message(context->aead.message);
  free_ccm(*context);
  context->fallback.free();
  OPENSSL_cleanse(static_cast<CipherState *>(context), sizeof(CipherState));
  delete context;
}

int init_stream(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], bool encrypt) {
  const Algorithm &algorithm = context.algorithm();
  if (iv != nullptr && algorithm.iv_bytes != 0 && iv_bytes != algorithm.iv_bytes) {
    ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_IV_LENGTH);
    return 0;
  }
  if (key != nullptr && key_bytes != algorithm.key_bytes) {
    ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_KEY_LENGTH);
    return 0;
  }
  note_generator_signs(context, key, iv, encrypt);
  begin_position(context, key, iv);
  context.message_is_over = false;
  const uint8_t *start = iv;
  uint8_t current_iv[kBlockBytes];
  if (iv == nullptr && context.position.first_iv_is_here &&
      !find_start(context, current_iv, &start))
    return 0;
  const size_t start_bytes = start == iv ? iv_bytes : kBlockBytes;
  const bool done = context.fallback.init(key, key_bytes, start, start_bytes, encrypt);
  context.encrypting = encrypt;
  context.position.held_bytes = 0;
  // OpenSSL accepts an IV before it checks the key or a parameter, even if it then refuses one of
  // those.
  if (start == context.position.first_iv) context.position.first_iv_is_here = false;
  if (iv != nullptr && algorithm.iv_bytes != 0) {
    context.iv_set = true;
    context.position.first_iv_is_here = false;
  }
  // OpenSSL also accepts the key before the parameters.
  if (done && key != nullptr) context.set_key(key, key_bytes);
  if (!done || (params != nullptr && !context.fallback.set_params(params))) {
    // OpenSSL's context may have another key now, or other settings. No device gets this key.
    context.key_set = false;
    return 0;
  }
  if (params != nullptr) note_params(context, params);
  return 1;
}

int get_stream_params(CipherContext &context, OSSL_PARAM params[]) {
  if (!context.fallback.get_params(params)) return 0;
  if (!context.position.first_iv_is_here) return 1;
  OSSL_PARAM *param = find_param(params, OSSL_CIPHER_PARAM_IV);
  if (param == nullptr) return 1;
  const int set = param->data_type == OSSL_PARAM_OCTET_PTR
                      ? OSSL_PARAM_set_octet_ptr(param, context.position.first_iv, kBlockBytes)
                      : OSSL_PARAM_set_octet_string(param, context.position.first_iv, kBlockBytes);
  if (!set) {
    ERR_raise(ERR_LIB_PROV, PROV_R_FAILED_TO_SET_PARAMETER);
    return 0;
  }
  return 1;
}

int set_stream_params(CipherContext &context, const OSSL_PARAM params[]) {
  if (!context.fallback.set_params(params)) return 0;
  if (params != nullptr) note_params(context, params);
  return 1;
}

int finish_stream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size) {
  // OpenSSL's context assumes that `out` has room for a block.
  uint8_t last[kBlockBytes];
  size_t bytes = 0;
  if (out_size >= kBlockBytes || !context.is_block_mode()) {
    if (!context.fallback.finish(out, &bytes)) return 0;
  } else {
    const bool done = context.fallback.finish(last, &bytes);
    if (done && bytes <= out_size) std::memcpy(out, last, bytes);
    OPENSSL_cleanse(last, sizeof last);
    if (!done) return 0;
    if (bytes > out_size) {
      ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
      return 0;
    }
  }
  *out_bytes = bytes;
  context.position.held_bytes = 0;
  return 1;
}

}  // namespace lanecrypt::provider
