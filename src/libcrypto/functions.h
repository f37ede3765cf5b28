// The functions of libcrypto that Lanecrypt calls, all there since 3.0 and
// public:  F(result, value without a libcrypto, name, parameters, arguments)
// F_UNTIL_CLEANUP is for functions that crash once OPENSSL_cleanup() has freed what they use, and
// that our own threads call, or threads that free a program's last object. OPENSSL_cleanup() waits
// for them, and then they return the value, too.
//
// No include guard: each including file defines F first, and may define F_UNTIL_CLEANUP.
//
// SPDX-License-Identifier: Apache-2.0

#ifndef F_UNTIL_CLEANUP
#define F_UNTIL_CLEANUP F
#endif

// Library contexts and providers
F(OSSL_LIB_CTX *, nullptr, OSSL_LIB_CTX_new, (void), ())
F(OSSL_LIB_CTX *, nullptr, OSSL_LIB_CTX_new_child,
  (const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in), (handle, in))
F_UNTIL_CLEANUP(void, , OSSL_LIB_CTX_free, (OSSL_LIB_CTX * context), (context))
F(OSSL_LIB_CTX *, nullptr, OSSL_LIB_CTX_set0_default, (OSSL_LIB_CTX * context), (context))
F(OSSL_PROVIDER *, nullptr, OSSL_PROVIDER_load, (OSSL_LIB_CTX * context, const char *name),
  (context, name))
F_UNTIL_CLEANUP(int, 0, OSSL_PROVIDER_unload, (OSSL_PROVIDER * provider), (provider))
F(int, 0, OSSL_PROVIDER_do_all,
  (OSSL_LIB_CTX * context, int (*look)(OSSL_PROVIDER *, void *), void *data), (context, look, data))
F(const char *, nullptr, OSSL_PROVIDER_get0_name, (const OSSL_PROVIDER *provider), (provider))
F(const OSSL_ALGORITHM *, nullptr, OSSL_PROVIDER_query_operation,
  (const OSSL_PROVIDER *provider, int operation, int *no_cache), (provider, operation, no_cache))
F(void, , OSSL_PROVIDER_unquery_operation,
  (const OSSL_PROVIDER *provider, int operation, const OSSL_ALGORITHM *algorithms),
  (provider, operation, algorithms))
F(void *, nullptr, OSSL_PROVIDER_get0_provider_ctx, (const OSSL_PROVIDER *provider), (provider))
F(int, 0, OSSL_PROVIDER_get_capabilities,
  (const OSSL_PROVIDER *provider, const char *capability, OSSL_CALLBACK *callback, void *argument),
  (provider, capability, callback, argument))
F(int, 0, OSSL_PROVIDER_available, (OSSL_LIB_CTX * context, const char *name), (context, name))

// Ciphers
F(EVP_CIPHER *, nullptr, EVP_CIPHER_fetch,
  (OSSL_LIB_CTX * context, const char *algorithm, const char *properties),
  (context, algorithm, properties))
F(void, , EVP_CIPHER_free, (EVP_CIPHER * cipher), (cipher))
F(EVP_CIPHER_CTX *, nullptr, EVP_CIPHER_CTX_new, (void), ())
F(void, , EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX * context), (context))
F(int, 0, EVP_CIPHER_CTX_get_params, (EVP_CIPHER_CTX * context, OSSL_PARAM params[]),
  (context, params))
F(int, 0, EVP_CIPHER_CTX_set_params, (EVP_CIPHER_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F(int, 0, EVP_CIPHER_CTX_set_padding, (EVP_CIPHER_CTX * context, int padding), (context, padding))
F(int, 0, EVP_CipherInit_ex2,
  (EVP_CIPHER_CTX * context, const EVP_CIPHER *cipher, const unsigned char *key,
   const unsigned char *iv, int encrypt, const OSSL_PARAM params[]),
  (context, cipher, key, iv, encrypt, params))
F(int, 0, EVP_CipherUpdate,
  (EVP_CIPHER_CTX * context, unsigned char *out, int *out_bytes, const unsigned char *in,
   int in_bytes),
  (context, out, out_bytes, in, in_bytes))
F(int, 0, EVP_CipherFinal_ex, (EVP_CIPHER_CTX * context, unsigned char *out, int *out_bytes),
  (context, out, out_bytes))
F(int, -1, EVP_Cipher,
  (EVP_CIPHER_CTX * context, unsigned char *out, const unsigned char *in, unsigned int in_bytes),
  (context, out, in, in_bytes))

// Numbers
F(BIGNUM *, nullptr, BN_new, (void), ())
F(BIGNUM *, nullptr, BN_secure_new, (void), ())
F(void, , BN_free, (BIGNUM * number), (number))
F(void, , BN_clear_free, (BIGNUM * number), (number))
F(BN_CTX *, nullptr, BN_CTX_new_ex, (OSSL_LIB_CTX * context), (context))
F(void, , BN_CTX_free, (BN_CTX * context), (context))
F(BIGNUM *, nullptr, BN_bin2bn, (const unsigned char *bytes, int length, BIGNUM *number),
  (bytes, length, number))
F(BIGNUM *, nullptr, BN_copy, (BIGNUM * to, const BIGNUM *from), (to, from))
F(int, 0, BN_set_word, (BIGNUM * number, BN_ULONG word), (number, word))
F(int, 0, BN_lshift, (BIGNUM * result, const BIGNUM *a, int bits), (result, a, bits))
F(int, 0, BN_rshift, (BIGNUM * result, const BIGNUM *a, int bits), (result, a, bits))
F(int, -1, BN_bn2lebinpad, (const BIGNUM *number, unsigned char *to, int length),
  (number, to, length))
F(int, -1, BN_bn2binpad, (const BIGNUM *number, unsigned char *to, int length),
  (number, to, length))
F(int, 0, BN_num_bits, (const BIGNUM *number), (number))
F(int, 0, BN_is_one, (const BIGNUM *number), (number))
F(int, 0, BN_is_zero, (const BIGNUM *number), (number))
F(int, 0, BN_cmp, (const BIGNUM *a, const BIGNUM *b), (a, b))
F(void, , BN_set_flags, (BIGNUM * number, int flags), (number, flags))
F(int, 0, BN_sub, (BIGNUM * result, const BIGNUM *a, const BIGNUM *b), (result, a, b))
F(int, 0, BN_add_word, (BIGNUM * number, BN_ULONG word), (number, word))
F(int, 0, BN_sub_word, (BIGNUM * number, BN_ULONG word), (number, word))
F(int, 0, BN_mul, (BIGNUM * result, const BIGNUM *a, const BIGNUM *b, BN_CTX *context),
  (result, a, b, context))
F(int, 0, BN_div,
  (BIGNUM * quotient, BIGNUM *rest, const BIGNUM *a, const BIGNUM *b, BN_CTX *context),
  (quotient, rest, a, b, context))
F(int, 0, BN_nnmod, (BIGNUM * rest, const BIGNUM *a, const BIGNUM *b, BN_CTX *context),
  (rest, a, b, context))
F(int, 0, BN_mod_mul,
  (BIGNUM * result, const BIGNUM *a, const BIGNUM *b, const BIGNUM *m, BN_CTX *context),
  (result, a, b, m, context))
F(int, 0, BN_mod_exp_mont,
  (BIGNUM * result, const BIGNUM *a, const BIGNUM *e, const BIGNUM *m, BN_CTX *context,
   BN_MONT_CTX *montgomery),
  (result, a, e, m, context, montgomery))
F(int, 0, BN_mod_exp_mont_consttime,
  (BIGNUM * result, const BIGNUM *a, const BIGNUM *e, const BIGNUM *m, BN_CTX *context,
   BN_MONT_CTX *montgomery),
  (result, a, e, m, context, montgomery))
F(BN_MONT_CTX *, nullptr, BN_MONT_CTX_new, (void), ())
F(void, , BN_MONT_CTX_free, (BN_MONT_CTX * montgomery), (montgomery))
F(int, 0, BN_MONT_CTX_set, (BN_MONT_CTX * montgomery, const BIGNUM *m, BN_CTX *context),
  (montgomery, m, context))
F(int, 0, BN_to_montgomery,
  (BIGNUM * result, const BIGNUM *a, BN_MONT_CTX *montgomery, BN_CTX *context),
  (result, a, montgomery, context))
F(int, 0, BN_from_montgomery,
  (BIGNUM * result, const BIGNUM *a, BN_MONT_CTX *montgomery, BN_CTX *context),
  (result, a, montgomery, context))
F(int, 0, BN_mod_mul_montgomery,
  (BIGNUM * result, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *montgomery, BN_CTX *context),
  (result, a, b, montgomery, context))
F(int, 0, BN_gcd, (BIGNUM * result, const BIGNUM *a, const BIGNUM *b, BN_CTX *context),
  (result, a, b, context))
F(BIGNUM *, nullptr, BN_mod_inverse,
  (BIGNUM * result, const BIGNUM *a, const BIGNUM *m, BN_CTX *context), (result, a, m, context))
F_UNTIL_CLEANUP(int, 0, BN_priv_rand_range_ex,
                (BIGNUM * result, const BIGNUM *range, unsigned int strength, BN_CTX *context),
                (result, range, strength, context))

// Contexts of keys
F(EVP_PKEY_CTX *, nullptr, EVP_PKEY_CTX_new_from_name,
  (OSSL_LIB_CTX * context, const char *name, const char *properties), (context, name, properties))
F(EVP_PKEY_CTX *, nullptr, EVP_PKEY_CTX_new_from_pkey,
  (OSSL_LIB_CTX * context, EVP_PKEY *key, const char *properties), (context, key, properties))
F(void, , EVP_PKEY_CTX_free, (EVP_PKEY_CTX * context), (context))
F(void, , EVP_PKEY_free, (EVP_PKEY * key), (key))

// Digests
F(EVP_MD *, nullptr, EVP_MD_fetch,
  (OSSL_LIB_CTX * context, const char *algorithm, const char *properties),
  (context, algorithm, properties))
F(void, , EVP_MD_free, (EVP_MD * digest), (digest))
F(int, 0, EVP_MD_up_ref, (EVP_MD * digest), (digest))
F(int, 0, EVP_MD_is_a, (const EVP_MD *digest, const char *name), (digest, name))
F(int, -1, EVP_MD_get_size, (const EVP_MD *digest), (digest))
F(const OSSL_PARAM *, nullptr, EVP_MD_gettable_ctx_params, (const EVP_MD *digest), (digest))
F(const OSSL_PARAM *, nullptr, EVP_MD_settable_ctx_params, (const EVP_MD *digest), (digest))
F(EVP_MD_CTX *, nullptr, EVP_MD_CTX_new, (void), ())
F(void, , EVP_MD_CTX_free, (EVP_MD_CTX * context), (context))
F(int, 0, EVP_MD_CTX_copy_ex, (EVP_MD_CTX * to, const EVP_MD_CTX *from), (to, from))
F(int, 0, EVP_MD_CTX_get_params, (EVP_MD_CTX * context, OSSL_PARAM params[]), (context, params))
F(int, 0, EVP_MD_CTX_set_params, (EVP_MD_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F(int, 0, EVP_DigestInit_ex2,
  (EVP_MD_CTX * context, const EVP_MD *digest, const OSSL_PARAM params[]),
  (context, digest, params))
F(int, 0, EVP_DigestUpdate, (EVP_MD_CTX * context, const void *in, size_t bytes),
  (context, in, bytes))
F(int, 0, EVP_DigestFinal_ex, (EVP_MD_CTX * context, unsigned char *out, unsigned int *bytes),
  (context, out, bytes))

// Keys, and what they are made of
F(EVP_PKEY *, nullptr, EVP_PKEY_dup, (EVP_PKEY * key), (key))
F(int, 0, EVP_PKEY_eq, (const EVP_PKEY *a, const EVP_PKEY *b), (a, b))
F(int, 0, EVP_PKEY_parameters_eq, (const EVP_PKEY *a, const EVP_PKEY *b), (a, b))
F(int, 0, EVP_PKEY_export,
  (const EVP_PKEY *key, int selection, OSSL_CALLBACK *callback, void *argument),
  (key, selection, callback, argument))
F(int, 0, EVP_PKEY_get_params, (const EVP_PKEY *key, OSSL_PARAM params[]), (key, params))
F(int, 0, EVP_PKEY_print_params, (BIO * out, const EVP_PKEY *key, int indent, ASN1_PCTX *how),
  (out, key, indent, how))
F(BIO *, nullptr, BIO_new_from_core_bio, (OSSL_LIB_CTX * context, OSSL_CORE_BIO *core),
  (context, core))
F(int, 0, BIO_free, (BIO * bio), (bio))
F(int, 0, BIO_read_ex, (BIO * bio, void *to, size_t most, size_t *bytes), (bio, to, most, bytes))
F(EVP_KEYMGMT *, nullptr, EVP_KEYMGMT_fetch,
  (OSSL_LIB_CTX * context, const char *algorithm, const char *properties),
  (context, algorithm, properties))
F(void, , EVP_KEYMGMT_free, (EVP_KEYMGMT * management), (management))
F(const OSSL_PROVIDER *, nullptr, EVP_KEYMGMT_get0_provider, (const EVP_KEYMGMT *management),
  (management))
F(const OSSL_PARAM *, nullptr, EVP_KEYMGMT_gettable_params, (const EVP_KEYMGMT *management),
  (management))
F(const OSSL_PARAM *, nullptr, EVP_KEYMGMT_gen_settable_params, (const EVP_KEYMGMT *management),
  (management))

// Keys as files have them
F(OSSL_ENCODER_CTX *, nullptr, OSSL_ENCODER_CTX_new_for_pkey,
  (const EVP_PKEY *key, int selection, const char *output, const char *structure,
   const char *properties),
  (key, selection, output, structure, properties))
F(void, , OSSL_ENCODER_CTX_free, (OSSL_ENCODER_CTX * context), (context))
F(int, 0, OSSL_ENCODER_CTX_set_params, (OSSL_ENCODER_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F(int, 0, OSSL_ENCODER_CTX_set_passphrase_cb,
  (OSSL_ENCODER_CTX * context, OSSL_PASSPHRASE_CALLBACK *callback, void *argument),
  (context, callback, argument))
F(int, 0, OSSL_ENCODER_to_bio, (OSSL_ENCODER_CTX * context, BIO *out), (context, out))
F(OSSL_DECODER *, nullptr, OSSL_DECODER_fetch,
  (OSSL_LIB_CTX * context, const char *algorithm, const char *properties),
  (context, algorithm, properties))
F(void, , OSSL_DECODER_free, (OSSL_DECODER * decoder), (decoder))
F(OSSL_DECODER_CTX *, nullptr, OSSL_DECODER_CTX_new, (void), ())
F(void, , OSSL_DECODER_CTX_free, (OSSL_DECODER_CTX * context), (context))
F(int, 0, OSSL_DECODER_CTX_set_selection, (OSSL_DECODER_CTX * context, int selection),
  (context, selection))
F(int, 0, OSSL_DECODER_CTX_set_input_type, (OSSL_DECODER_CTX * context, const char *type),
  (context, type))
F(int, 0, OSSL_DECODER_CTX_add_decoder, (OSSL_DECODER_CTX * context, OSSL_DECODER *decoder),
  (context, decoder))
F(int, 0, OSSL_DECODER_CTX_set_construct,
  (OSSL_DECODER_CTX * context, OSSL_DECODER_CONSTRUCT *construct), (context, construct))
F(int, 0, OSSL_DECODER_CTX_set_construct_data, (OSSL_DECODER_CTX * context, void *data),
  (context, data))
F(int, 0, OSSL_DECODER_export,
  (OSSL_DECODER_INSTANCE * decoder, void *reference, size_t reference_bytes,
   OSSL_CALLBACK *callback, void *argument),
  (decoder, reference, reference_bytes, callback, argument))
F(int, 0, OSSL_DECODER_from_bio, (OSSL_DECODER_CTX * context, BIO *in), (context, in))

// Operations with keys
F(EVP_PKEY_CTX *, nullptr, EVP_PKEY_CTX_dup, (const EVP_PKEY_CTX *context), (context))
F(int, 0, EVP_PKEY_CTX_get_params, (EVP_PKEY_CTX * context, OSSL_PARAM params[]), (context, params))
F(int, 0, EVP_PKEY_CTX_set_params, (EVP_PKEY_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F(void, , EVP_PKEY_CTX_set_cb, (EVP_PKEY_CTX * context, EVP_PKEY_gen_cb *callback),
  (context, callback))
F(void, , EVP_PKEY_CTX_set_app_data, (EVP_PKEY_CTX * context, void *data), (context, data))
F(void *, nullptr, EVP_PKEY_CTX_get_app_data, (EVP_PKEY_CTX * context), (context))
F(int, -1, EVP_PKEY_CTX_get_keygen_info, (EVP_PKEY_CTX * context, int index), (context, index))
F(int, 0, EVP_PKEY_fromdata_init, (EVP_PKEY_CTX * context), (context))
F(int, 0, EVP_PKEY_fromdata,
  (EVP_PKEY_CTX * context, EVP_PKEY **key, int selection, OSSL_PARAM params[]),
  (context, key, selection, params))
F(int, 0, EVP_PKEY_CTX_set_rsa_padding, (EVP_PKEY_CTX * context, int padding), (context, padding))
F(int, 0, EVP_PKEY_encrypt_init, (EVP_PKEY_CTX * context), (context))
F(int, 0, EVP_PKEY_keygen_init, (EVP_PKEY_CTX * context), (context))
F_UNTIL_CLEANUP(int, 0, EVP_PKEY_generate, (EVP_PKEY_CTX * context, EVP_PKEY **key), (context, key))
F(int, 0, EVP_PKEY_pairwise_check, (EVP_PKEY_CTX * context), (context))
F(int, 0, EVP_PKEY_private_check, (EVP_PKEY_CTX * context), (context))
F(int, 0, EVP_PKEY_public_check, (EVP_PKEY_CTX * context), (context))
F(int, 0, EVP_PKEY_public_check_quick, (EVP_PKEY_CTX * context), (context))
F(int, 0, EVP_PKEY_sign_init_ex, (EVP_PKEY_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F_UNTIL_CLEANUP(int, 0, EVP_PKEY_sign,
                (EVP_PKEY_CTX * context, unsigned char *signature, size_t *signature_bytes,
                 const unsigned char *in, size_t in_bytes),
                (context, signature, signature_bytes, in, in_bytes))
F(int, 0, EVP_PKEY_verify_init_ex, (EVP_PKEY_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F(int, 0, EVP_PKEY_verify,
  (EVP_PKEY_CTX * context, const unsigned char *signature, size_t signature_bytes,
   const unsigned char *in, size_t in_bytes),
  (context, signature, signature_bytes, in, in_bytes))
F(int, 0, EVP_PKEY_verify_recover_init_ex, (EVP_PKEY_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F(int, 0, EVP_PKEY_verify_recover,
  (EVP_PKEY_CTX * context, unsigned char *out, size_t *out_bytes, const unsigned char *signature,
   size_t signature_bytes),
  (context, out, out_bytes, signature, signature_bytes))
F(int, 0, EVP_PKEY_encrypt_init_ex, (EVP_PKEY_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F_UNTIL_CLEANUP(int, 0, EVP_PKEY_encrypt,
                (EVP_PKEY_CTX * context, unsigned char *out, size_t *out_bytes,
                 const unsigned char *in, size_t in_bytes),
                (context, out, out_bytes, in, in_bytes))
F(int, 0, EVP_PKEY_decrypt_init, (EVP_PKEY_CTX * context), (context))
F(int, 0, EVP_PKEY_decrypt_init_ex, (EVP_PKEY_CTX * context, const OSSL_PARAM params[]),
  (context, params))
F_UNTIL_CLEANUP(int, 0, EVP_PKEY_decrypt,
                (EVP_PKEY_CTX * context, unsigned char *out, size_t *out_bytes,
                 const unsigned char *in, size_t in_bytes),
                (context, out, out_bytes, in, in_bytes))
F(int, 0, EVP_DigestSignInit_ex,
  (EVP_MD_CTX * context, EVP_PKEY_CTX **its, const char *digest, OSSL_LIB_CTX *library,
   const char *properties, EVP_PKEY *key, const OSSL_PARAM params[]),
  (context, its, digest, library, properties, key, params))
F_UNTIL_CLEANUP(int, 0, EVP_DigestSign,
                (EVP_MD_CTX * context, unsigned char *signature, size_t *signature_bytes,
                 const unsigned char *in, size_t in_bytes),
                (context, signature, signature_bytes, in, in_bytes))
F(int, 0, EVP_DigestVerifyInit_ex,
  (EVP_MD_CTX * context, EVP_PKEY_CTX **its, const char *digest, OSSL_LIB_CTX *library,
   const char *properties, EVP_PKEY *key, const OSSL_PARAM params[]),
  (context, its, digest, library, properties, key, params))
F(int, 0, EVP_DigestVerify,
  (EVP_MD_CTX * context, const unsigned char *signature, size_t signature_bytes,
   const unsigned char *in, size_t in_bytes),
  (context, signature, signature_bytes, in, in_bytes))
F(EVP_MAC *, nullptr, EVP_MAC_fetch,
  (OSSL_LIB_CTX * context, const char *algorithm, const char *properties),
  (context, algorithm, properties))
F(void, , EVP_MAC_free, (EVP_MAC * mac), (mac))
F(EVP_MAC_CTX *, nullptr, EVP_MAC_CTX_new, (EVP_MAC * mac), (mac))
F(void, , EVP_MAC_CTX_free, (EVP_MAC_CTX * context), (context))
F(EVP_MAC_CTX *, nullptr, EVP_MAC_CTX_dup, (const EVP_MAC_CTX *context), (context))
F(int, 0, EVP_MAC_init,
  (EVP_MAC_CTX * context, const unsigned char *key, size_t key_bytes, const OSSL_PARAM params[]),
  (context, key, key_bytes, params))
F(int, 0, EVP_MAC_update, (EVP_MAC_CTX * context, const unsigned char *data, size_t bytes),
  (context, data, bytes))
F(int, 0, EVP_MAC_final,
  (EVP_MAC_CTX * context, unsigned char *out, size_t *out_bytes, size_t out_size),
  (context, out, out_bytes, out_size))
F(EVP_SIGNATURE *, nullptr, EVP_SIGNATURE_fetch,
  (OSSL_LIB_CTX * context, const char *algorithm, const char *properties),
  (context, algorithm, properties))
F(void, , EVP_SIGNATURE_free, (EVP_SIGNATURE * signature), (signature))
F(const OSSL_PARAM *, nullptr, EVP_SIGNATURE_gettable_ctx_params, (const EVP_SIGNATURE *signature),
  (signature))
F(const OSSL_PARAM *, nullptr, EVP_SIGNATURE_settable_ctx_params, (const EVP_SIGNATURE *signature),
  (signature))
F(EVP_ASYM_CIPHER *, nullptr, EVP_ASYM_CIPHER_fetch,
  (OSSL_LIB_CTX * context, const char *algorithm, const char *properties),
  (context, algorithm, properties))
F(void, , EVP_ASYM_CIPHER_free, (EVP_ASYM_CIPHER * cipher), (cipher))
F(const OSSL_PARAM *, nullptr, EVP_ASYM_CIPHER_gettable_ctx_params, (const EVP_ASYM_CIPHER *cipher),
  (cipher))
F(const OSSL_PARAM *, nullptr, EVP_ASYM_CIPHER_settable_ctx_params, (const EVP_ASYM_CIPHER *cipher),
  (cipher))

// RSA paddings that check in constant time. Deprecated since 3.0, and still there in 4.0.
F(int, -1, RSA_padding_check_PKCS1_OAEP_mgf1,
  (unsigned char *to, int to_size, const unsigned char *from, int from_bytes, int modulus_bytes,
   const unsigned char *label, int label_bytes, const EVP_MD *digest, const EVP_MD *mgf1_digest),
  (to, to_size, from, from_bytes, modulus_bytes, label, label_bytes, digest, mgf1_digest))
F(int, -1, RSA_padding_check_PKCS1_type_2,
  (unsigned char *to, int to_size, const unsigned char *from, int from_bytes, int modulus_bytes),
  (to, to_size, from, from_bytes, modulus_bytes))

// Jobs of ASYNC
F(ASYNC_JOB *, nullptr, ASYNC_get_current_job, (void), ())
F(ASYNC_WAIT_CTX *, nullptr, ASYNC_get_wait_ctx, (ASYNC_JOB * job), (job))
F(int, 0, ASYNC_pause_job, (void), ())
F(int, 0, ASYNC_WAIT_CTX_set_wait_fd,
  (ASYNC_WAIT_CTX * context, const void *key, OSSL_ASYNC_FD fd, void *data,
   void (*cleanup)(ASYNC_WAIT_CTX *, const void *, OSSL_ASYNC_FD, void *)),
  (context, key, fd, data, cleanup))
F(int, 0, ASYNC_WAIT_CTX_get_fd,
  (ASYNC_WAIT_CTX * context, const void *key, OSSL_ASYNC_FD *fd, void **data),
  (context, key, fd, data))
F(int, 0, ASYNC_WAIT_CTX_clear_fd, (ASYNC_WAIT_CTX * context, const void *key), (context, key))
F(int, 0, ASYNC_WAIT_CTX_get_callback,
  (ASYNC_WAIT_CTX * context, ASYNC_callback_fn *callback, void **argument),
  (context, callback, argument))

// Parameters
F(OSSL_PARAM *, nullptr, OSSL_PARAM_locate, (OSSL_PARAM * params, const char *key), (params, key))
F(const OSSL_PARAM *, nullptr, OSSL_PARAM_locate_const, (const OSSL_PARAM *params, const char *key),
  (params, key))
F(int, 0, OSSL_PARAM_get_int, (const OSSL_PARAM *param, int *value), (param, value))
F(int, 0, OSSL_PARAM_get_uint, (const OSSL_PARAM *param, unsigned int *value), (param, value))
F(int, 0, OSSL_PARAM_get_size_t, (const OSSL_PARAM *param, size_t *value), (param, value))
F(int, 0, OSSL_PARAM_get_octet_string,
  (const OSSL_PARAM *param, void **value, size_t size, size_t *used), (param, value, size, used))
F(int, 0, OSSL_PARAM_get_utf8_string, (const OSSL_PARAM *param, char **value, size_t size),
  (param, value, size))
F(int, 0, OSSL_PARAM_set_int, (OSSL_PARAM * param, int value), (param, value))
F(int, 0, OSSL_PARAM_set_uint, (OSSL_PARAM * param, unsigned int value), (param, value))
F(int, 0, OSSL_PARAM_set_size_t, (OSSL_PARAM * param, size_t value), (param, value))
F(int, 0, OSSL_PARAM_set_uint64, (OSSL_PARAM * param, uint64_t value), (param, value))
F(int, 0, OSSL_PARAM_set_utf8_string, (OSSL_PARAM * param, const char *value), (param, value))
F(int, 0, OSSL_PARAM_set_octet_ptr, (OSSL_PARAM * param, const void *value, size_t bytes),
  (param, value, bytes))
F(int, 0, OSSL_PARAM_set_octet_string, (OSSL_PARAM * param, const void *value, size_t bytes),
  (param, value, bytes))
F(int, 0, OSSL_PARAM_set_utf8_ptr, (OSSL_PARAM * param, const char *value), (param, value))
F(OSSL_PARAM *, nullptr, OSSL_PARAM_dup, (const OSSL_PARAM *params), (params))
F(OSSL_PARAM *, nullptr, OSSL_PARAM_merge, (const OSSL_PARAM *first, const OSSL_PARAM *second),
  (first, second))
F(void, , OSSL_PARAM_free, (OSSL_PARAM * params), (params))

// Memory
F(void *, nullptr, CRYPTO_malloc, (size_t bytes, const char *file, int line), (bytes, file, line))
F(void *, nullptr, CRYPTO_zalloc, (size_t bytes, const char *file, int line), (bytes, file, line))
F(void, , CRYPTO_free, (void *pointer, const char *file, int line), (pointer, file, line))
F(void, , CRYPTO_clear_free, (void *pointer, size_t bytes, const char *file, int line),
  (pointer, bytes, file, line))
F(int, 1, CRYPTO_memcmp, (const void *a, const void *b, size_t bytes), (a, b, bytes))

// Randomness
F_UNTIL_CLEANUP(int, 0, RAND_bytes_ex,
                (OSSL_LIB_CTX * context, unsigned char *out, size_t bytes, unsigned int strength),
                (context, out, bytes, strength))
F_UNTIL_CLEANUP(int, 0, RAND_priv_bytes_ex,
                (OSSL_LIB_CTX * context, unsigned char *out, size_t bytes, unsigned int strength),
                (context, out, bytes, strength))
F_UNTIL_CLEANUP(EVP_RAND_CTX *, nullptr, RAND_get0_private, (OSSL_LIB_CTX * context), (context))
F_UNTIL_CLEANUP(int, 0, EVP_RAND_generate,
                (EVP_RAND_CTX * generator, unsigned char *out, size_t bytes, unsigned int strength,
                 int prediction_resistance, const unsigned char *additional,
                 size_t additional_bytes),
                (generator, out, bytes, strength, prediction_resistance, additional,
                 additional_bytes))
F(EVP_RAND *, nullptr, EVP_RAND_CTX_get0_rand, (EVP_RAND_CTX * generator), (generator))
F(int, 0, EVP_RAND_CTX_get_params, (EVP_RAND_CTX * generator, OSSL_PARAM params[]),
  (generator, params))
F(int, 0, EVP_RAND_is_a, (const EVP_RAND *generator, const char *name), (generator, name))
F(const OSSL_PROVIDER *, nullptr, EVP_RAND_get0_provider, (const EVP_RAND *generator), (generator))
F_UNTIL_CLEANUP(const RAND_METHOD *, nullptr, RAND_get_rand_method, (void), ())
F(RAND_METHOD *, nullptr, RAND_OpenSSL, (void), ())

// Errors; ERR_set_error(), which takes any number of arguments, is in forward.cpp
F(void, , ERR_new, (void), ())
F(void, , ERR_set_debug, (const char *file, int line, const char *function), (file, line, function))
F(void, , ERR_vset_error, (int lib, int reason, const char *format, va_list arguments),
  (lib, reason, format, arguments))
F(unsigned long, 0, ERR_get_error, (void), ())
F(unsigned long, 0, ERR_peek_error, (void), ())
F(unsigned long, 0, ERR_peek_last_error, (void), ())
F(void, , ERR_clear_error, (void), ())
F(int, 0, ERR_set_mark, (void), ())
F(int, 0, ERR_pop_to_mark, (void), ())
F(int, 0, ERR_clear_last_mark, (void), ())
F(const char *, nullptr, ERR_reason_error_string, (unsigned long error), (error))
F(int, 0, ERR_get_next_error_library, (void), ())
F(int, 0, ERR_load_strings_const, (const ERR_STRING_DATA *strings), (strings))

// The library itself
F(const char *, "", OpenSSL_version, (int what), (what))
F(int, 0, OPENSSL_init_crypto, (uint64_t options, const OPENSSL_INIT_SETTINGS *settings),
  (options, settings))
F_UNTIL_CLEANUP(void, , OPENSSL_thread_stop_ex, (OSSL_LIB_CTX * context), (context))
F(unsigned int, 0, OPENSSL_version_major, (void), ())
F(unsigned int, 0, OPENSSL_version_minor, (void), ())

#undef F_UNTIL_CLEANUP
