// SPDX-License-Identifier: Apache-2.0
#include "cli/failure.h"

#include <fmt/format.h>

#include <system_error>

namespace lanecrypt::cli {

void throw_errno(const std::string &what, int error) {
  throw Failure(ExitCode::kFailed,
                fmt::format("{}: {}", what, std::generic_category().message(error)));
}

}  // namespace lanecrypt::cli
