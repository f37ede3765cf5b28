// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_key.h"

#include <new>

#include "process/cancellation.h"

namespace lanecrypt::remote {

RemoteKey::~RemoteKey() {
  const std::shared_ptr<client::Client> client = client_.lock();
  if (client == nullptr) return;  // the session and all its keys ended with the context
  const process::CancellationOff not_cancelled;
  try {
    if (const auto session = client->here().session(); session != nullptr) forget_in(*session);
  } catch (const std::bad_alloc &) {  // a child of fork() without a connection
  }
}

}  // namespace lanecrypt::remote
