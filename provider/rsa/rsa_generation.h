// RSA key generation on a device, in this process or by the service, for the kinds of keys that
// devices generate.
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

// RsaWish has the requested properties of a key, as far as a device needs them. The default
// provider's context gets the same parameters, and what it refuses is refused.
class RsaWish {
 public:
  // read() notes parameters that the default provider has accepted.
  void read(const OSSL_PARAM params[]);
  // leave_to_fallback() is called if the default provider has refused parameters. Only that
  // provider knows which key it then generates, so the effect is permanent.
  void leave_to_fallback() { is_plain_ = false; }
  // suits_device() says whether devices generate such a key: two primes, a supported length and
  // exponent, and no other parameter.
  bool suits_device() const;
  size_t bits() const { return bits_; }
  // Big-endian.
  const std::vector<uint8_t> &exponent() const { return exponent_; }

 private:
  size_t bits_ = 2048, primes_ = 2;
  std::vector<uint8_t> exponent_ = {1, 0, 1};
  bool is_plain_ = true;
};

// TellProgress reports the progress to the core. If it returns 0, the generation must stop.
using TellProgress = int (*)(void *argument, int potential, int iteration);

struct GeneratedKey {
  enum class Outcome {
    kMade,
    kElsewhere,  // the default provider must generate it
    kFailed      // with an error raised, or stopped by the callback
  };
  Outcome outcome = Outcome::kElsewhere;
  // A key of the default provider, which the caller frees.
  EVP_PKEY *key = nullptr;
};

// generate_rsa_key() generates a key on a device or by the service. `tell` may be nullptr;
// otherwise it is called with `argument`.
GeneratedKey generate_rsa_key(Provider &provider, RsaType type, const RsaWish &wish,
                              TellProgress tell, void *argument);

// NamedNumber is a number of a key, big-endian, with the name of OpenSSL's parameter.
struct NamedNumber {
  const char *name = nullptr;
  std::span<const uint8_t> bytes;
};
using NumbersOfKey = std::array<NamedNumber, 8>;

// make_key_of() imports the numbers as a key of the default provider, which the caller frees. It
// returns nullptr with an error raised on failure.
EVP_PKEY *make_key_of(Provider &provider, RsaType type, const NumbersOfKey &numbers);
// bits_of() returns the length in bits of a big-endian number without leading zero bytes.
size_t bits_of(std::span<const uint8_t> number);

// make_fallback_rsa_key() imports `params` as a key of the default provider, which the caller
// frees. It returns nullptr with an error raised on failure.
EVP_PKEY *make_fallback_rsa_key(Provider &provider, RsaType type, int selection,
                                const OSSL_PARAM params[]);

}  // namespace lanecrypt::provider
