// A private key of the library's, as a context names it to the service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "job/rsa_job.h"
#include "service/client/client.h"
#include "service/client/key.h"

namespace lanecrypt::served {

// Kept beside its key. When the key goes, the service forgets it.
class ServedKey final : public client::Key, public BesideKey {
 public:
  ServedKey(const RsaKey &key, uint64_t owner, std::weak_ptr<client::Client> client)
      : client::Key({service::Family::kRsa, key.modulus_bits}),
        BesideKey(owner),
        key_(key),
        client_(std::move(client)) {}
  ~ServedKey() override;

  // The numbers stay where they are: the key outlives the operations with it.
  bool copy_numbers(client::KeyNumbers &to) const override;

 private:
  const RsaKey &key_;
  const std::weak_ptr<client::Client> client_;
};

}  // namespace lanecrypt::served
