// The common part of ML-DSA's and SLH-DSA's signature contexts: the key, the parameters, the random
// bytes, and access to the default provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <array>
#include <memory>

#include "provider/pq/pq_key.h"

namespace lanecrypt::provider {

// Parameter names and function identifiers that OpenSSL 3.0's headers do not define.
inline constexpr char kContextString[] = "context-string", kTestEntropy[] = "test-entropy";
inline constexpr char kDeterministic[] = "deterministic", kMessageEncoding[] = "message-encoding";
inline constexpr char kMu[] = "mu";
inline constexpr int kSignMessageInit = 27, kVerifyMessageInit = 30;
// The length of ML-DSA's mu.
inline constexpr size_t kMuBytes = 64;

class SignatureContext {
 public:
  SignatureContext(Provider &of, const PqType &its_type) : provider(of), type(its_type) {}
  SignatureContext(const SignatureContext &from);
  SignatureContext &operator=(const SignatureContext &) = delete;
  ~SignatureContext();

  // begin() takes a reference to `of`, or keeps the previous key if it is nullptr. It returns false
  // with an error raised on failure.
  bool begin(PqKey *of);
  // set_params() sets the parameters that both families have. It returns false with an error raised
  // on failure.
  bool set_params(const OSSL_PARAM params[]);
  // draw() writes the random input of a signature, type.random_bytes bytes, to `to`: the caller's
  // test entropy, zeros for a deterministic signature, or bytes from the program's private
  // generator. It returns false with an error raised on failure.
  bool draw(uint8_t *to) const;
  // As in OpenSSL, any number except 0 makes SLH-DSA deterministic, and only 1 makes ML-DSA
  // deterministic.
  bool is_deterministic() const {
    const bool asks = type.family == PqFamily::kMlDsa ? deterministic == 1 : deterministic != 0;
    return asks && !has_entropy_;
  }
  // has_room() stores the length of the signature in `*bytes`, and says whether `room` bytes are
  // enough for it. It returns false with an error raised if not.
  bool has_room(size_t room, size_t *bytes) const;

  struct FreeHash {
    void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
  };
  // begin_fallback() begins a signature or verification with the default provider's key. `*its`
  // becomes the EVP_PKEY_CTX for parameters, which the result owns. It returns nullptr with an
  // error raised on failure.
  std::unique_ptr<EVP_MD_CTX, FreeHash> begin_fallback(bool signs, const OSSL_PARAM params[],
                                                       EVP_PKEY_CTX **its = nullptr) const;

  Provider &provider;
  const PqType &type;
  PqKey *key = nullptr;
  std::array<uint8_t, 255> context_string;
  size_t context_bytes = 0;
  int deterministic = 0, encoding = 1;

 private:
  std::array<uint8_t, kMostPqRandomBytes> entropy_;
  bool has_entropy_ = false;
};

// has_no_digest() returns false, with an error raised, if a digest is named.
bool has_no_digest(const char *digest, const char *family);
// These implement OSSL_FUNC_signature_get_ctx_params and gettable_ctx_params: the default
// provider's context supplies the AlgorithmIdentifier.
int get_signature_params(SignatureContext &context, OSSL_PARAM params[]);
const OSSL_PARAM *gettable_signature_params(void *context, void *provider);

}  // namespace lanecrypt::provider
