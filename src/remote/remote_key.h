// A private key of the library, with the number under which a context's service knows it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "job/key_attachment.h"
#include "remote/service.h"
#include "service/client/client.h"
#include "service/client/key.h"

namespace lanecrypt::remote {

// Attached to its key. When the key is destroyed, the service forgets it. A subclass for each
// family provides the numbers of the key, which must outlive the operations with it.
class RemoteKey : public client::Key, public KeyAttachment {
 public:
  RemoteKey(const service::OperationKind &operation_kind, const Service &service)
      : client::Key(operation_kind), KeyAttachment(service.number), client_(service.client) {}
  ~RemoteKey() override;

 private:
  const std::weak_ptr<client::Client> client_;
};

// Returns the RemoteKey that the context of `service` has attached to a key. Makes it at the first
// use.
template <class Made, class Key>
RemoteKey &remote_key(const Key &key, const Service &service) {
  KeyAttachment *kept = key.attachments.of(service.number);
  if (kept == nullptr) kept = key.attachments.keep(std::make_unique<Made>(key, service));
  return static_cast<RemoteKey &>(*kept);
}

}  // namespace lanecrypt::remote
