// What a context has of the service in this process and in its children.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "job/status.h"
#include "service/client/client.h"

namespace lanecrypt::served {

struct Service {
  // service: as lc_options has it, neither NULL nor "off". owner: lc_options.service_owner, or "".
  static Result<Service> named(const char *service, const char *owner, lc_fallback fallback,
                               lc_verify verify);

  std::shared_ptr<client::Client> client;
  uint64_t number = 0;  // no other context has it
  // What the service does not do, the CPU does.
  bool has_cpu = true;
  bool checks_all = false;

  // The session of this process, or a new one. nullptr: there is none.
  std::shared_ptr<client::Session> session() const;
  // Why the service did not `what`, such as "do the operation".
  Status why_not(bool has_failed, const std::string &what) const;
};

}  // namespace lanecrypt::served
