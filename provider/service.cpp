// Decides whether an operation goes to the service, and reports the service's failures.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/service.h"

#include <syslog.h>

#include <string>

#include "process/cancellation.h"
#include "provider/wait/for_service.h"
#include "provider/wait/jobs.h"

namespace lanecrypt::provider {

std::shared_ptr<client::Session> session_with_service(Provider &provider, bool waits) {
  if (!provider.may_use_service()) return nullptr;
  const process::CancellationOff not_cancelled;
  return provider.service().here().connect(waits);
}

bool is_service_sooner(Provider &provider, const service::OperationKind &operation_kind,
                       client::Choice **counted) {
  const uint32_t in_line = operations_in_line_for_service();
  client::Connection &connection = provider.service().here();
  client::Choice &choice = connection.choice();
  const bool is_worth_it = choice.is_worth_connecting(operation_kind.family, in_line);
  std::shared_ptr<client::Session> session = connection.session();
  if (session == nullptr && is_worth_it && connection.may_connect())
    session = session_with_service(provider, false);
  if (session != nullptr) {
    if (choice.wants_look(*session) && provider.may_use_service()) session->look_again();
    if (!choice.is_service_sooner(operation_kind, in_line))
      *counted = &choice;
    else if (provider.may_use_service())
      return true;
  }
  stays_on_cpu();
  return false;
}

void tell_loss(Provider &provider) {
  client::Connection &connection = provider.service().here();
  if (!connection.take_loss() || provider.is_sandboxed()) return;
  const process::CancellationOff not_cancelled;
  syslog(LOG_USER | LOG_WARNING,
         "lanecrypt: the service at %s does not answer; its operations run on this process's own "
         "cores until it does",
         connection.path().c_str());
}

void raise_service_required(Provider &provider, const char *why) {
  std::string reason = why;
  if (reason.empty())
    reason = provider.may_use_service() ? provider.service().here().why()
                                        : "the process has sandboxed itself";
  provider.errors.raise(Reason::kServiceRequired, reason.c_str());
}

}  // namespace lanecrypt::provider
