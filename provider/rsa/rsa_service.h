// The service that does RSA for this process: whether it may be asked, and what is said where
// it fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/provider.h"

namespace lanecrypt::provider {

// The session with the service, or nullptr. Connects if need be, and if the process has not
// sandboxed itself. With `waits` it waits for another thread that connects.
std::shared_ptr<client::Session> session_with_service(Provider &provider, bool waits);

// Tells the system's log, once, of a service that has stopped answering. The program sees right
// results and no error.
void tell_loss(Provider &provider);

// Raises that the service is required. `why` may be "", if there is no session.
void raise_service_required(Provider &provider, const char *why);

}  // namespace lanecrypt::provider
