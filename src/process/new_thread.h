// Starts a thread, or throws an error that says what to do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace lanecrypt::process {

// NoThread is thrown if the system refuses a thread.
class NoThread : public std::system_error {
 public:
  explicit NoThread(std::error_code code)
      : std::system_error(code, code == std::errc::resource_unavailable_try_again
                                    ? "cannot start a thread: end other processes, or raise the "
                                      "limits on processes (ulimit -u, pids.max) and on memory"
                                    : "cannot start a thread") {}
};

// new_thread() starts a thread that runs `body`. It throws NoThread.
template <typename Body>
std::thread new_thread(Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error &error) {
    throw NoThread(error.code());
  }
}

}  // namespace lanecrypt::process
