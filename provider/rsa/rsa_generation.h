// RSA keys made on a device, in this process or by the service, if the caller asks for such keys as
// devices make.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "provider/rsa/rsa_key.h"

namespace lanecrypt::provider {

// What OpenSSL's core asks of a key, as far as a device has to know it. The default
// provider's context is told the same, and what it refuses is refused.
class RsaWish {
 public:
  // Called after the default provider has taken the parameters.
  void read(const OSSL_PARAM params[]);
  // The default provider has refused parameters. Only it knows what it must make now, so this
  // lasts.
  void leave_to_fallback() { is_plain_ = false; }
  // Whether a key is asked for that devices make: two primes, such a length and exponent, and
  // nothing else.
  bool suits_device() const;
  size_t bits() const { return bits_; }
  // Big-endian.
  const std::vector<uint8_t> &exponent() const { return exponent_; }

 private:
  size_t bits_ = 2048, primes_ = 2;
  std::vector<uint8_t> exponent_ = {1, 0, 1};
  bool is_plain_ = true;
};

// Tells the core the progress. If it returns 0, the generation must end.
using TellProgress = int (*)(void *argument, int potential, int iteration);

struct GeneratedKey {
  enum class Outcome {
    kMade,
    kElsewhere,  // the default provider must make it
    kFailed      // with an error raised, or stopped
  };
  Outcome outcome = Outcome::kElsewhere;
  // A key of the default provider's. The caller owns it.
  EVP_PKEY *key = nullptr;
};

// `tell` may be nullptr.
GeneratedKey generate_rsa_key(Provider &provider, RsaType type, const RsaWish &wish,
                              TellProgress tell, void *argument);

// A number of a key, big-endian, by the name of OpenSSL's parameter.
struct NamedNumber {
  const char *name = nullptr;
  std::span<const uint8_t> bytes;
};
using NumbersOfKey = std::array<NamedNumber, 8>;

// Makes a key of the default provider's from its numbers. nullptr with an error raised.
EVP_PKEY *make_key_of(Provider &provider, RsaType type, const NumbersOfKey &numbers);
// The length of a number that has no zero bytes in front.
size_t bits_of(std::span<const uint8_t> number);

// Makes a key of the default provider's from its parameters. nullptr with an error raised.
EVP_PKEY *make_fallback_rsa_key(Provider &provider, RsaType type, int selection,
                                const OSSL_PARAM params[]);

}  // namespace lanecrypt::provider
