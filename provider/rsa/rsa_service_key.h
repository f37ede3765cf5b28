// What the service needs of a private key of RSA. The numbers stay in the default provider's
// key, which is asked for them when they are to be sent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "provider/rsa/rsa_key.h"
#include "service/client/key.h"

namespace lanecrypt::provider {

class RsaServiceKey final : public client::Key {
 public:
  explicit RsaServiceKey(const RsaKey &key)
      : client::Key({service::Family::kRsa, uint32_t(key.bits())}), key_(key) {}
  ~RsaServiceKey();

  // False if it is no private key of two primes with all its numbers.
  bool read();
  bool copy_numbers(client::KeyNumbers &to) const override;
  // Whether out^e mod n is `in`. Both are as long as the modulus.
  bool is_result(std::span<const uint8_t> in, std::span<const uint8_t> out) const;
  // SHA-256 of the private exponent, for implicit rejection.
  const uint8_t *exponent_hash() const { return exponent_hash_; }

 private:
  int read(const OSSL_PARAM params[]);

  const RsaKey &key_;
  uint8_t exponent_hash_[32] = {};
  // Big-endian.
  std::vector<uint8_t> public_exponent_;
};

}  // namespace lanecrypt::provider
