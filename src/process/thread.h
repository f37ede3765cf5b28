// Starts our threads. A process that has sandboxed itself since this module was loaded gets none,
// because its sandbox may kill it for starting one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "process/new_thread.h"

namespace lanecrypt::process {

// Sandboxed is thrown in the same places as NoThread.
class Sandboxed : public std::system_error {
 public:
  Sandboxed()
      : std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                          "the process has sandboxed itself since devices were first wanted") {}
};

// is_sandboxed() says whether the process has sandboxed itself since this module was loaded.
bool is_sandboxed();

// start_thread() starts a thread that runs `body`. It throws Sandboxed or NoThread.
template <typename Body>
std::thread start_thread(Body body) {
  if (is_sandboxed()) throw Sandboxed();
  return new_thread(std::move(body));
}

}  // namespace lanecrypt::process
