// Asks a service for what it tells of itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/service/state.h"

namespace lanecrypt::cli {

// The socket of the machine's service, or of this user's own if only that is there.
std::string usual_socket();

// The JSON text that the service at this socket answers. Throws Failure: kNoService if nothing
// listens there, kFailed if it does not let this user in, is silent for five seconds in all, or
// does not keep to the protocol.
std::string ask_for_statistics(const std::string &socket);

inline ServiceState ask_service(const std::string &socket) {
  return parse_state(ask_for_statistics(socket));
}

}  // namespace lanecrypt::cli
