// SPDX-License-Identifier: Apache-2.0
#include "cli/io/bus_error.h"

#include <setjmp.h>
#include <signal.h>

#include <mutex>

namespace lanecrypt::cli {
namespace {

thread_local sigjmp_buf *landing = nullptr;

void land(int number) {
  if (landing != nullptr) siglongjmp(*landing, 1);
  signal(number, SIG_DFL);  // the signal comes again
}

}  // namespace

bool run_unless_bus_error(void (*run)(void *argument), void *argument) {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_handler = land;
    sigaction(SIGBUS, &action, nullptr);
  });
  sigjmp_buf here;
  // Saves the mask of signals too: within a handler its own signal is blocked.
  const bool is_whole = sigsetjmp(here, 1) == 0;
  if (is_whole) {
    landing = &here;
    run(argument);
  }
  landing = nullptr;
  return is_whole;
}

}  // namespace lanecrypt::cli
