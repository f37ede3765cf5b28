// A private key as the service needs it. The key material stays in the default provider's key, and
// is exported from there when it is sent.
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
