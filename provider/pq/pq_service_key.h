// What the service needs of a private key of ML-DSA. It stays in the default provider's key,
// which is asked for it when it is to be sent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "provider/pq/pq_key.h"
#include "service/client/key.h"

namespace lanecrypt::provider {

class PqServiceKey final : public client::Key {
 public:
  explicit PqServiceKey(const PqKey &key)
      : client::Key({service::Family::kMlDsa, uint32_t(key.type().set)}), key_(key) {}

  bool copy_numbers(client::KeyNumbers &to) const override;
  // Whether it is a signature of the mu that begins `in`, by the default provider.
  bool is_result(std::span<const uint8_t> in, std::span<const uint8_t> signature) const;

 private:
  const PqKey &key_;
};

}  // namespace lanecrypt::provider
