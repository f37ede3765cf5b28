// An RSA private key as the service needs it. The key material stays in the default provider's key,
// and is exported from there when it is sent.
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

  // read() returns false if the key is not a private key of two primes with all its numbers.
  bool read();
  bool copy_numbers(client::KeyNumbers &to) const override;
  // is_result() says whether out^e mod n equals `in`. Both are as long as the modulus.
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
