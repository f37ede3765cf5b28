// Reports the service's state to systemd.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::service::daemon {

// Sends a state such as "READY=1" to the socket that NOTIFY_SOCKET names, by the protocol of
// sd_notify(3). Does nothing if there is none. Ignores errors.
void notify_systemd(const char *state);

}  // namespace lanecrypt::service::daemon
