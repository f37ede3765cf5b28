// SPDX-License-Identifier: Apache-2.0
#include "cli/failure.h"

#include <fmt/format.h>

#include <system_error>

namespace lanecrypt::cli {

Failure errno_failure(const std::string &what, int error) {
  return Failure(ExitCode::kFailed,
                 fmt::format("{}: {}", what, std::generic_category().message(error)));
}

void throw_errno(const std::string &what, int error) { throw errno_failure(what, error); }

}  // namespace lanecrypt::cli
