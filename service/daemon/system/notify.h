// Tells whoever started the service how it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::service::daemon {

// Sends a state such as "READY=1" to systemd, if that has said where (NOTIFY_SOCKET), by
// sd_notify(3)'s protocol. Whether it arrives does not matter.
void notify_systemd(const char *state);

}  // namespace lanecrypt::service::daemon
