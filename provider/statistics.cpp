// Writes the statistics line, and keeps the list of loaded providers.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "process/cancellation.h"
#include "process/file_size_signal.h"

namespace lanecrypt::provider {
namespace {

// The list of loaded providers. The fork handlers below hold the lock across a fork, so that a
// child never inherits it locked by another thread.
std::mutex mutex;
Provider *living = nullptr;
bool process_is_ending = false;
bool handlers_are_set = false;

std::string json_text(const char *text) {
  std::string quoted = "\"";
  for (; *text != '\0'; ++text) {
    const unsigned char c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += char(c);
    } else if (c < 0x20) {
      static constexpr char kHex[] = "0123456789abcdef";
      quoted += "\\u00";
      quoted += kHex[c >> 4];
      quoted += kHex[c & 15];
    } else {
      quoted += char(c);
    }
  }
  return quoted + '"';
}

// take_back() removes a partly written line that a full disk or a limit cut off, so that the next
// line does not begin in the middle of it.
void take_back(int file, size_t bytes) {
  const off_t end = lseek(file, 0, SEEK_CUR);
  struct stat entry;
  if (end < off_t(bytes) || fstat(file, &entry) != 0 || entry.st_size != end) return;
  [[maybe_unused]] const int done = ftruncate(file, end - off_t(bytes));
}

void append_line(Provider &provider) {
  const Totals totals = provider.counters.totals();
  if (provider.settings.stats_file.empty() || provider.is_sandboxed()) return;
  // A child that only inherited the provider and did no work has nothing to report.
  const bool has_worked = std::any_of(
      std::begin(kCounts), std::end(kCounts),
      [&](const CountRow &row) { return row.is_work && totals[size_t(row.count)] != 0; });
  if (provider.in_forked_child && !has_worked) return;
  const auto number = [](const char *name, uint64_t value) {
    return std::string(", \"") + name + "\": " + std::to_string(value);
  };
  std::string line = "{\"program\": " + json_text(program_invocation_short_name);
  line += number("pid", uint64_t(getpid())) + number("time", uint64_t(time(nullptr)));
  for (const CountRow &row : kCounts) line += number(row.in_file, totals[size_t(row.count)]);
  line += ", \"devices\": " + devices_json(provider) + "}\n";
  // A file that cannot be opened or written is ignored, because a program that is ending should not
  // fail for it. Another user may have put a symbolic link there, which leads to a file of this
  // user, or a FIFO, which would block; hence O_NOFOLLOW and O_NONBLOCK.
  const int file =
      open(provider.settings.stats_file.c_str(),
           O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return;
  struct stat entry;
  // The line is written by one write(), so that lines of processes that end together do not mix.
  if (fstat(file, &entry) == 0 && S_ISREG(entry.st_mode) && entry.st_nlink == 1) {
    const process::FileSizeSignalBlocked blocked;
    const ssize_t written = write(file, line.data(), line.size());
    if (written > 0 && size_t(written) < line.size()) take_back(file, size_t(written));
  }
  close(file);
}

void append_line_quietly(Provider &provider) noexcept {
  const process::CancellationOff not_cancelled;
  try {
    append_line(provider);
  } catch (...) {  // out of memory
  }
}

void before_fork() { mutex.lock(); }
void after_fork_in_parent() { mutex.unlock(); }
void after_fork_in_child() {
  for (Provider *provider = living; provider != nullptr; provider = provider->next) {
    provider->counters.clear();
    provider->asked_devices = false;
    provider->in_forked_child = true;
  }
  mutex.unlock();
}

// AtExit writes the statistics lines at exit(), or when the module is unloaded and no provider is
// left. libcrypto unloads providers after that, or never.
struct AtExit {
  ~AtExit() {
    const std::lock_guard lock(mutex);
    process_is_ending = true;
    for (Provider *provider = living; provider != nullptr; provider = provider->next)
      append_line_quietly(*provider);
    living = nullptr;
  }
} at_exit;

}  // namespace

std::string devices_json(Provider &provider) {
  std::string json = "[";
  uint32_t count = 0;
  if (!provider.asked_devices || lc_device_count(provider.devices(), &count) != LC_OK) return "[]";
  for (uint32_t index = 0; index < count; ++index) {
    lc_device_info info{};
    info.struct_size = sizeof info;
    lc_counters counters{};
    counters.struct_size = sizeof counters;
    if (lc_device_get(provider.devices(), index, &info) != LC_OK || !info.selected ||
        lc_counters_get(provider.devices(), index, &counters) != LC_OK)
      continue;
    if (json.size() > 1) json += ", ";
    json += "{\"id\": " + json_text(info.id) + ", \"name\": " + json_text(info.name) +
            ", \"jobs\": " + std::to_string(counters.jobs) +
            ", \"bytes\": " + std::to_string(counters.bytes) +
            ", \"failures\": " + std::to_string(counters.failures);
    if (info.reason[0] != '\0') json += ", \"reason\": " + json_text(info.reason);
    json += "}";
  }
  return json + "]";
}

void enlist(Provider &provider) {
  const std::lock_guard lock(mutex);
  if (!handlers_are_set) {
    handlers_are_set = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  }
  provider.next = living;
  living = &provider;
}

bool strike_off(Provider &provider) {
  const std::lock_guard lock(mutex);
  for (Provider **link = &living; *link != nullptr; link = &(*link)->next) {
    if (*link != &provider) continue;
    *link = provider.next;
    append_line_quietly(provider);
    break;
  }
  return !process_is_ending;
}

}  // namespace lanecrypt::provider
