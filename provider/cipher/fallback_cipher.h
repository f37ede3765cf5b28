// OpenSSL's own ciphers, called directly by the functions of the default provider's dispatch
// tables. An EVP context in between would do nothing for us, because EVP already has one around our
// context. It would make an update of a few blocks slower.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/params.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lanecrypt::provider {

struct Provider;

// FallbackCipher is one cipher, which never changes. It is reference-counted: our provider and each
// context own it. A context that libcrypto's own random generator has created may outlive our
// provider's reference.
struct FallbackCipher {
  mutable std::atomic<unsigned> owners = 1;
  void *provider_context;  // the default provider's; lives as long as our child library context
  // By how many bytes EVP allows the output to exceed the input.
  size_t room_bytes;
  OSSL_FUNC_cipher_newctx_fn *newctx;
  OSSL_FUNC_cipher_freectx_fn *freectx;
  OSSL_FUNC_cipher_dupctx_fn *dupctx;  // nullptr: its contexts cannot be copied
  OSSL_FUNC_cipher_encrypt_init_fn *encrypt_init;
  OSSL_FUNC_cipher_decrypt_init_fn *decrypt_init;
  OSSL_FUNC_cipher_update_fn *update;
  OSSL_FUNC_cipher_final_fn *final;
  OSSL_FUNC_cipher_cipher_fn *cipher;
  OSSL_FUNC_cipher_get_ctx_params_fn *get_ctx_params;
  OSSL_FUNC_cipher_set_ctx_params_fn *set_ctx_params;
  OSSL_FUNC_cipher_gettable_ctx_params_fn *gettable_ctx_params;
  OSSL_FUNC_cipher_settable_ctx_params_fn *settable_ctx_params;

  // The parameters that every context of the cipher has, as EVP queries them.
  const OSSL_PARAM *gettable() const { return gettable_ctx_params(nullptr, provider_context); }
  const OSSL_PARAM *settable() const { return settable_ctx_params(nullptr, provider_context); }
};

// fallback_cipher() returns row `index` of kAlgorithms. It returns nullptr with an error raised if
// there is no default provider. Thread-safe.
const FallbackCipher *fallback_cipher(Provider &provider, int index);
// release_fallback_ciphers() releases our provider's references to all of them.
void release_fallback_ciphers(Provider &provider);

// FallbackContext is OpenSSL's context of one operation. It is plain data: all zeros is no context,
// and a bytewise copy refers to the same context. If a function returns false, OpenSSL has raised
// an error if it raises one for that failure.
struct FallbackContext {
  const FallbackCipher *of;
  void *state;
  bool encrypting;

  bool exists() const { return state != nullptr; }
  // make() creates a context, for decryption and without a key. There must be none before.
  bool make(Provider &provider, int index);
  // make_copy_of() makes this a copy of `other`. The previous value is overwritten and not freed.
  bool make_copy_of(const FallbackContext &other);
  // free() frees the context, which OpenSSL wipes. There may be none.
  void free();

  // init() sets the key, the IV and the direction. A key or IV of nullptr stays as it is.
  bool init(const uint8_t *key, size_t key_bytes, const uint8_t *iv, size_t iv_bytes,
            bool encrypt) {
    encrypting = encrypt;
    return (encrypt ? of->encrypt_init : of->decrypt_init)(state, key, key_bytes, iv, iv_bytes,
                                                           nullptr) != 0;
  }
  // init_iv() sets a new IV and keeps the key and the direction.
  bool init_iv(const uint8_t *iv, size_t iv_bytes) {
    return init(nullptr, 0, iv, iv_bytes, encrypting);
  }
  // update() processes `in_bytes` from `in`. `out` has room for `out_size` bytes; without that
  // parameter, for as many as EVP guarantees.
  bool update(uint8_t *out, size_t *out_bytes, size_t out_size, const uint8_t *in,
              size_t in_bytes) {
    return of->update(state, out, out_bytes, out_size, in, in_bytes) != 0;
  }
  bool update(uint8_t *out, size_t *out_bytes, const uint8_t *in, size_t in_bytes) {
    return update(out, out_bytes, in_bytes + of->room_bytes, in, in_bytes);
  }
  bool finish(uint8_t *out, size_t *out_bytes) {
    return of->final(state, out, out_bytes, of->room_bytes) != 0;
  }
  // at_once() does what EVP_Cipher() does.
  bool at_once(uint8_t *out, size_t *out_bytes, const uint8_t *in, size_t in_bytes) {
    return of->cipher(state, out, out_bytes, in_bytes + of->room_bytes, in, in_bytes) != 0;
  }
  bool get_params(OSSL_PARAM params[]) const { return of->get_ctx_params(state, params) != 0; }
  bool set_params(const OSSL_PARAM params[]) { return of->set_ctx_params(state, params) != 0; }
};

}  // namespace lanecrypt::provider
