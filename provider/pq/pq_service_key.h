// What the service needs of a private key. It stays in the default provider's key, which is asked
// for it when it is to be sent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/pq/pq_key.h"
#include "service/client/key.h"

namespace lanecrypt::provider {

class PqServiceKey final : public client::Key {
 public:
  explicit PqServiceKey(const PqKey &key) : client::Key(key.type().operation_kind()), key_(key) {}

  bool copy_numbers(client::KeyNumbers &to) const override;

 private:
  const PqKey &key_;
};

}  // namespace lanecrypt::provider
