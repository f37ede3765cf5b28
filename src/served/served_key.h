// A private key of the library's, as a context names it to the service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "job/beside_key.h"
#include "served/service.h"
#include "service/client/client.h"
#include "service/client/key.h"

namespace lanecrypt::served {

// Kept beside its key. When the key goes, the service forgets it. A family says what the service
// needs of the key, which outlives the operations with it.
class ServedKey : public client::Key, public BesideKey {
 public:
  ServedKey(const service::Sort &sort, const Service &service)
      : client::Key(sort), BesideKey(service.number), client_(service.client) {}
  ~ServedKey() override;

 private:
  const std::weak_ptr<client::Client> client_;
};

// What the context of `service` keeps beside a key, made at its first use.
template <class Made, class Key>
ServedKey &served_key(const Key &key, const Service &service) {
  BesideKey *kept = key.beside.of(service.number);
  if (kept == nullptr) kept = key.beside.keep(std::make_unique<Made>(key, service));
  return static_cast<ServedKey &>(*kept);
}

}  // namespace lanecrypt::served
