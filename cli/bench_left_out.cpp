// SPDX-License-Identifier: Apache-2.0
#include "bench_left_out.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

bool unless_unsupported(const std::function<void()> &measure) {
  static std::set<std::string> said;
  try {
    measure();
    return true;
  } catch (const Error &error) {
    if (error.status() != LC_ERROR_UNSUPPORTED) throw;
    // A progress line may be there.
    if (said.insert(error.what()).second)
      fmt::print(stderr, "{}lanecrypt: left out: {}\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
                 error.what());
    return false;
  }
}

}  // namespace lanecrypt::cli
