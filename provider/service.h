// The service that does operations for this process: whether it may be asked, whether it is
// sooner, and what is said where it fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "provider/provider.h"
#include "service/client/choice.h"
#include "service/client/operation.h"

namespace lanecrypt::provider {

// The session with the service, or nullptr. Connects if need be, and if the process has not
// sandboxed itself. With `waits` it waits for another thread that connects.
std::shared_ptr<client::Session> session_with_service(Provider &provider, bool waits);

// Whether the service ends an operation of this kind sooner than the caller's core, and may be
// asked. Costs no system call until the process may gain. If *counted is set, the operation counts
// as one at work on its core until report_cpu_time() is called there.
bool is_service_sooner(Provider &provider, const service::OperationKind &operation_kind,
                       client::Choice **counted);

// Tells the system's log, once, of a service that has stopped answering. The program sees right
// results and no error.
void tell_loss(Provider &provider);

// Raises that the service is required. `why` may be "", if there is no session.
void raise_service_required(Provider &provider, const char *why);
// After an operation that the service was to do and has not done.
inline const char *why_not_done(OffloadResult taken) {
  return taken == OffloadResult::kFailed ? "the service has failed to do the operation"
                                         : "the service has no room or no device for the operation";
}

}  // namespace lanecrypt::provider
