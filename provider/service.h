// The service that does operations for this process: whether it may be used, whether it is faster,
// and what is reported if it fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "provider/provider.h"
#include "service/client/choice.h"
#include "service/client/operation.h"

namespace lanecrypt::provider {

// session_with_service() returns the session with the service, or nullptr. It connects if
// necessary, unless the process has sandboxed itself. If `waits`, it waits for another thread that
// is connecting.
std::shared_ptr<client::Session> session_with_service(Provider &provider, bool waits);

// is_service_sooner() says whether the service finishes an operation of this kind sooner than the
// caller's core, and may be used. It makes no system call until the process may gain from one. If
// it sets `*counted`, the operation counts as running on a core of this process until the caller
// calls report_cpu_time() there.
bool is_service_sooner(Provider &provider, const service::OperationKind &operation_kind,
                       client::Choice **counted);

// tell_loss() writes one line to the system log if the service has stopped answering. The program
// gets correct results and no error.
void tell_loss(Provider &provider);

// raise_service_required() raises Reason::kServiceRequired. `why` may be "" if there is no session;
// the client then supplies the reason.
void raise_service_required(Provider &provider, const char *why);
// why_not_done() returns the reason why the service has not done an operation.
inline const char *why_not_done(OffloadResult taken) {
  return taken == OffloadResult::kFailed ? "the service has failed to do the operation"
                                         : "the service has no room or no device for the operation";
}

}  // namespace lanecrypt::provider
