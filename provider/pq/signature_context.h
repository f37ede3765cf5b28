// What signatures of all families have in common, as OpenSSL's core sees them: the key, the
// parameters, the random numbers, and the way to the default provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <array>
#include <memory>

#include "provider/pq/pq_key.h"

namespace lanecrypt::provider {

// Names and numbers that 3.0's headers have not.
inline constexpr char kContextString[] = "context-string", kTestEntropy[] = "test-entropy";
inline constexpr char kDeterministic[] = "deterministic", kMessageEncoding[] = "message-encoding";
inline constexpr char kMu[] = "mu";
inline constexpr int kSignMessageInit = 27, kVerifyMessageInit = 30;
// Of ML-DSA's mu.
inline constexpr size_t kMuBytes = 64;

class SignatureContext {
 public:
  SignatureContext(Provider &of, const PqType &its_type) : provider(of), type(its_type) {}
  SignatureContext(const SignatureContext &from);
  SignatureContext &operator=(const SignatureContext &) = delete;
  ~SignatureContext();

  // Takes the key, or keeps that of before if it is nullptr. False with an error raised.
  bool begin(PqKey *of);
  bool set_params(const OSSL_PARAM params[]);
  // What takes the place of the signature's random numbers, type.random_bytes: what the caller
  // gave, zeros for a deterministic signature, or new ones of the program's private generator.
  bool draw(uint8_t *to) const;
  // OpenSSL takes any number but 0 for SLH-DSA's, and 1 alone for ML-DSA's.
  bool is_deterministic() const {
    const bool asks = type.family == PqFamily::kMlDsa ? deterministic == 1 : deterministic != 0;
    return asks && !has_entropy_;
  }
  // Whether the signature has room; says how long it is. False with an error raised.
  bool has_room(size_t room, size_t *bytes) const;

  struct FreeHash {
    void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
  };
  // Begins with the default provider's key. `its` is the context for parameters.
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

// False, with an error raised, if a digest is named.
bool has_no_digest(const char *digest, const char *family);
int get_signature_params(SignatureContext &context, OSSL_PARAM params[]);
const OSSL_PARAM *gettable_signature_params(void *context, void *provider);

}  // namespace lanecrypt::provider
