// The exceptions with which the service fails to start. Each has a sentence for a person.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>

namespace lanecrypt::service::daemon {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
  Failure(const std::string &what, int error) : Failure(what + ": " + std::strerror(error)) {}
};

// The command line is wrong.
struct UsageFailure : Failure {
  using Failure::Failure;
};

}  // namespace lanecrypt::service::daemon
