// Threads of ours. A process that has sandboxed itself since this was loaded gets none:
// its sandbox may end it for starting one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "process/new_thread.h"

namespace lanecrypt::process {

// Thrown as where the system gives no more threads.
class Sandboxed : public std::system_error {
 public:
  Sandboxed()
      : std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                          "the process has sandboxed itself since devices were first wanted") {}
};

// Whether a sandbox has come since this was loaded.
bool is_sandboxed();

// Throws Sandboxed or NoThread.
template <typename Body>
std::thread start_thread(Body body) {
  if (is_sandboxed()) throw Sandboxed();
  return new_thread(std::move(body));
}

}  // namespace lanecrypt::process
