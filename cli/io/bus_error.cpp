// SPDX-License-Identifier: Apache-2.0
#include "cli/io/bus_error.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

thread_local sigjmp_buf *landing = nullptr;
std::atomic<const char *> last_words = nullptr;

void land(int number) {
  if (landing != nullptr) siglongjmp(*landing, 1);
  if (const char *const text = last_words; text != nullptr) {
    (void)!write(STDERR_FILENO, text, strlen(text));
    _exit(static_cast<int>(ExitCode::kFailed));
  }
  signal(number, SIG_DFL);  // the signal comes again
}

void catch_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_handler = land;
    sigaction(SIGBUS, &action, nullptr);
  });
}

}  // namespace

bool run_unless_bus_error(void (*run)(void *argument), void *argument) {
  catch_bus_errors();
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

void end_on_bus_error(const char *text) {
  last_words = text;
  catch_bus_errors();
}

}  // namespace lanecrypt::cli
