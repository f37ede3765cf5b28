// Replaces syslog() in the test program.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/system_log.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <utility>

namespace provider_test {
namespace {

// Log is never destroyed, because a thread may write when the program ends.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;
};
Log &log() {
  static Log *const log = new Log;
  return *log;
}

void add(const char *format, va_list arguments) {
  char line[1024];
  std::vsnprintf(line, sizeof line, format, arguments);
  const std::lock_guard lock(log().mutex);
  log().lines.push_back(line);
}

}  // namespace

std::vector<std::string> take_system_log() {
  const std::lock_guard lock(log().mutex);
  return std::exchange(log().lines, {});
}

}  // namespace provider_test

// These definitions take precedence over libc's, which are not declared here. With _FORTIFY_SOURCE
// the second is called instead of the first.
extern "C" {
__attribute__((visibility("default"))) void syslog(int, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  provider_test::add(format, arguments);
  va_end(arguments);
}
__attribute__((visibility("default"))) void __syslog_chk(int, int, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  provider_test::add(format, arguments);
  va_end(arguments);
}
}
