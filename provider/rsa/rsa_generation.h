// Keys of RSA made on a device, where that is what was asked for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <cstddef>
#include <vector>

#include "provider/rsa/rsa_key.h"

namespace lanecrypt::provider {

// What OpenSSL's core asks of a key, as far as a device has to know: the default
// provider's context is told the same, and what that refuses is refused.
class RsaWish {
 public:
  // After the default provider has taken them.
  void read(const OSSL_PARAM params[]);
  // For good: it has refused some, and only it knows what it is to make now.
  void leave_to_fallback() { is_plain_ = false; }
  // Two primes, a length and an exponent that devices make keys of, and nothing
  // else asked for.
  bool suits_device() const;
  size_t bits() const { return bits_; }
  // Big-endian.
  const std::vector<uint8_t> &exponent() const { return exponent_; }

 private:
  size_t bits_ = 2048, primes_ = 2;
  std::vector<uint8_t> exponent_ = {1, 0, 1};
  bool is_plain_ = true;
};

// How the core wants to hear how far it is; returns 0 to end it.
using TellProgress = int (*)(void *argument, int potential, int iteration);

struct GeneratedKey {
  enum class Outcome {
    kMade,
    kElsewhere,  // the default provider is to make it
    kFailed      // with an error raised, or stopped
  };
  Outcome outcome = Outcome::kElsewhere;
  // A key of the default provider's; the caller's.
  EVP_PKEY *key = nullptr;
};

// `tell` may be nullptr.
GeneratedKey generate_rsa_key(Provider &provider, RsaType type, const RsaWish &wish,
                              TellProgress tell, void *argument);

// A key of the default provider's from its parameters; nullptr with an error
// raised.
EVP_PKEY *make_fallback_rsa_key(Provider &provider, RsaType type, int selection,
                                const OSSL_PARAM params[]);

}  // namespace lanecrypt::provider
