// The connection of a context to the service, in this process and in its children.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "job/status.h"
#include "service/client/client.h"

namespace lanecrypt::remote {

struct Service {
  // Returns the service that `service` names, as lc_options.service does; neither NULL nor "off".
  // `owner`: lc_options.service_owner, or "".
  static Result<Service> named(const char *service, const char *owner, lc_fallback fallback,
                               lc_verify verify);

  std::shared_ptr<client::Client> client;
  uint64_t number = 0;  // unique among contexts
  // Whether the CPU does what the service does not do.
  bool has_cpu = true;
  bool checks_all = false;

  // Returns the session of this process, or makes one. nullptr if there is none.
  std::shared_ptr<client::Session> session() const;
  // Returns the error for an operation that the service did not do. `what` names it, such as "do
  // the operation".
  Status why_not(bool has_failed, const std::string &what) const;
};

}  // namespace lanecrypt::remote
