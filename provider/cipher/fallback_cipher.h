// OpenSSL's own ciphers, called by the functions that its default provider gives to
// libcrypto's core. An EVP context in between would do nothing for us: EVP has one around
// ours already. It would make an update of a few blocks slower.
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

// One cipher, which never changes. Our provider owns it, and so does each of its
// contexts: a context that libcrypto's own random generator has made outlives our
// provider's share.
struct FallbackCipher {
  mutable std::atomic<unsigned> owners = 1;
  void *provider_context;  // the default provider's, which lives as long as our child context
  // How many bytes more than the input EVP grants an output.
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

  // The parameters that every context of it has, as EVP asks for them.
  const OSSL_PARAM *gettable() const { return gettable_ctx_params(nullptr, provider_context); }
  const OSSL_PARAM *settable() const { return settable_ctx_params(nullptr, provider_context); }
};

// Cipher number `index` of algorithms.h. nullptr with an error raised if there is no
// default provider. Any thread.
const FallbackCipher *fallback_cipher(Provider &provider, int index);
// Gives up our provider's share in all of them.
void release_fallback_ciphers(Provider &provider);

// OpenSSL's context of one operation. Plain data: all zeros is no context, and copied
// bytes are the same context. If a function returns false, OpenSSL has raised an error,
// or had none to raise.
struct FallbackContext {
  const FallbackCipher *of;
  void *state;
  bool encrypting;

  bool exists() const { return state != nullptr; }
  // Makes a context, decrypting and without a key, where there is none.
  bool make(Provider &provider, int index);
  // Makes a copy of the other, whatever these bytes held before.
  bool make_copy_of(const FallbackContext &other);
  // Frees the context, which OpenSSL wipes. There need not be one.
  void free();

  // With nullptr it keeps what it has.
  bool init(const uint8_t *key, size_t key_bytes, const uint8_t *iv, size_t iv_bytes,
            bool encrypt) {
    encrypting = encrypt;
    return (encrypt ? of->encrypt_init : of->decrypt_init)(state, key, key_bytes, iv, iv_bytes,
                                                           nullptr) != 0;
  }
  // Keeps the key and the direction.
  bool init_iv(const uint8_t *iv, size_t iv_bytes) {
    return init(nullptr, 0, iv, iv_bytes, encrypting);
  }
  // `out` has room for `out_size` bytes. Without that, for as many as EVP grants.
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
  // Does what EVP_Cipher() does.
  bool at_once(uint8_t *out, size_t *out_bytes, const uint8_t *in, size_t in_bytes) {
    return of->cipher(state, out, out_bytes, in_bytes + of->room_bytes, in, in_bytes) != 0;
  }
  bool get_params(OSSL_PARAM params[]) const { return of->get_ctx_params(state, params) != 0; }
  bool set_params(const OSSL_PARAM params[]) { return of->set_ctx_params(state, params) != 0; }
};

}  // namespace lanecrypt::provider
