// Asks a service for its state.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/service/state.h"

namespace lanecrypt::cli {

// Returns the path of the system service's socket, or of this user's service if only that exists.
std::string usual_socket();

// Returns the JSON text that the service at this socket answers. Throws Failure: kNoService if no
// service listens there; kFailed if it does not admit this user, does not answer within five
// seconds in total, or violates the protocol.
std::string ask_for_statistics(const std::string &socket);

inline ServiceState ask_service(const std::string &socket) {
  return parse_state(ask_for_statistics(socket));
}

}  // namespace lanecrypt::cli
