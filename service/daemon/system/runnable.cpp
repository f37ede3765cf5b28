// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/system/runnable.h"

#include <fcntl.h>

#include <charconv>
#include <system_error>

namespace lanecrypt::service::daemon {

// /proc/loadavg has the same number as procs_running of /proc/stat, which takes the kernel much
// longer on a machine with many cores.
RunnableTasks::RunnableTasks() : file_(open("/proc/loadavg", O_RDONLY | O_CLOEXEC)) {}

std::optional<uint32_t> RunnableTasks::count() const {
  char text[128];
  if (!file_.ok()) return std::nullopt;
  const ssize_t bytes = pread(file_.get(), text, sizeof text, 0);
  if (bytes <= 0) return std::nullopt;
  return parse({text, size_t(bytes)});
}

std::optional<uint32_t> RunnableTasks::parse(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const size_t space = text.rfind(' ', slash);
  if (space == std::string_view::npos) return std::nullopt;
  uint32_t count = 0;
  const char *const begin = text.data() + space + 1, *const end = text.data() + slash;
  const auto [at, error] = std::from_chars(begin, end, count);
  if (error != std::errc() || at != end) return std::nullopt;
  return count;
}

}  // namespace lanecrypt::service::daemon
