// Tracks the position of a stream in a cipher context.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/stream_position.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>

#include "job/cipher/counter.h"

namespace lanecrypt::provider {
namespace {

// set_next_iv() gives OpenSSL's context the IV of the next block, and keeps its first IV.
bool set_next_iv(CipherContext &context, const uint8_t iv[kBlockBytes]) {
  if (!context.position.first_iv_is_here) {
    const void *first = nullptr;
    OSSL_PARAM params[] = {
        {OSSL_CIPHER_PARAM_IV, OSSL_PARAM_OCTET_PTR, &first, kBlockBytes, OSSL_PARAM_UNMODIFIED},
        OSSL_PARAM_END};
    if (!context.fallback.get_params(params) || first == nullptr) return false;
    std::memcpy(context.position.first_iv, first, kBlockBytes);
    context.position.first_iv_is_here = true;
  }
  return context.fallback.init_iv(iv, kBlockBytes);
}

}  // namespace

bool ask_state(CipherContext &context, StreamState *state) {
  *state = {};
  if (context.algorithm().is_chacha20()) {
    const unsigned used = context.position.chacha20_used_bytes,
                   unit = context.algorithm().unit_bytes();
    std::memcpy(state->iv, context.position.chacha20_iv, kBlockBytes);
    advance_chacha20(state->iv, used / unit);
    state->used_bytes = used % unit;
    return true;
  }
  // The IV is queried by pointer: if a copy is requested, some versions leave an error in the error
  // queue.
  const void *iv = nullptr;
  OSSL_PARAM params[4] = {{OSSL_CIPHER_PARAM_NUM, OSSL_PARAM_UNSIGNED_INTEGER, &state->used_bytes,
                           sizeof(unsigned), OSSL_PARAM_UNMODIFIED},
                          {OSSL_CIPHER_PARAM_PADDING, OSSL_PARAM_UNSIGNED_INTEGER, &state->padding,
                           sizeof(unsigned), OSSL_PARAM_UNMODIFIED},
                          OSSL_PARAM_END,
                          OSSL_PARAM_END};
  const bool has_iv = context.algorithm().iv_bytes != 0;
  if (has_iv)
    params[2] = {OSSL_CIPHER_PARAM_UPDATED_IV, OSSL_PARAM_OCTET_PTR, &iv, kBlockBytes,
                 OSSL_PARAM_UNMODIFIED};
  if (!context.fallback.get_params(params) || (has_iv && iv == nullptr)) return false;
  if (has_iv) std::memcpy(state->iv, iv, kBlockBytes);
  return true;
}

void begin_position(CipherContext &context, const uint8_t *key, const uint8_t *iv) {
  if (context.algorithm().is_chacha20() && iv != nullptr) {
    std::memcpy(context.position.chacha20_iv, iv, kBlockBytes);
    context.position.chacha20_used_bytes = 0;
    context.position.chacha20_is_lost = false;
  } else if (key != nullptr && context.position.chacha20_used_bytes > 0) {
    context.position.chacha20_is_lost = true;
  }
}

bool find_start(CipherContext &context, uint8_t current_iv[kBlockBytes], const uint8_t **start) {
  const Algorithm &algorithm = context.algorithm();
  if (algorithm.mode != EVP_CIPH_CBC_MODE && !algorithm.traits().is_feedback) return true;
  *start = context.position.first_iv;
  if (context.iv_set) return true;
  const void *current = nullptr;
  OSSL_PARAM ask[] = {{OSSL_CIPHER_PARAM_UPDATED_IV, OSSL_PARAM_OCTET_PTR, &current, kBlockBytes,
                       OSSL_PARAM_UNMODIFIED},
                      OSSL_PARAM_END};
  if (!context.fallback.get_params(ask) || current == nullptr) return false;
  std::memcpy(current_iv, current, kBlockBytes);
  *start = current_iv;
  return true;
}

void note_fed(CipherContext &context, size_t in_bytes, size_t out_bytes) {
  if (context.is_block_mode() && !context.tls_records)
    context.position.held_bytes += in_bytes - out_bytes;
  if (context.algorithm().is_chacha20()) advance_chacha20_stream(context, in_bytes);
}

void advance_chacha20_stream(CipherContext &context, uint64_t bytes) {
  const unsigned unit = context.algorithm().unit_bytes();
  if (context.position.chacha20_used_bytes > 0) {
    const uint64_t rest = std::min<uint64_t>(bytes, unit - context.position.chacha20_used_bytes);
    context.position.chacha20_used_bytes += unsigned(rest);
    bytes -= rest;
    if (bytes == 0) return;
    context.position.chacha20_used_bytes = 0;
    advance_chacha20(context.position.chacha20_iv, 1);
  }
  advance_chacha20(context.position.chacha20_iv, bytes / unit);
  context.position.chacha20_used_bytes = unsigned(bytes % unit);
}

bool set_behind(CipherContext &context, const uint8_t iv[kBlockBytes], size_t bytes,
                const uint8_t next_iv[kBlockBytes]) {
  StreamPosition &position = context.position;
  if (context.algorithm().is_chacha20()) {
    std::memcpy(position.chacha20_iv, iv, kBlockBytes);
    position.chacha20_used_bytes = 0;
    advance_chacha20_stream(context, bytes);
    return context.fallback.init_iv(position.chacha20_iv, kBlockBytes);
  }
  // ECB has no IV, but must also drop what it holds back.
  const bool is_set = context.algorithm().iv_bytes != 0 ? set_next_iv(context, next_iv)
                                                        : context.fallback.init_iv(nullptr, 0);
  position.held_bytes = 0;
  return is_set;
}

}  // namespace lanecrypt::provider
