// Detects that the process has sandboxed itself, by /proc/self/status and the root folder.
//
// SPDX-License-Identifier: Apache-2.0
#include "process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "process/cancellation.h"
#include "process/forks.h"

namespace lanecrypt::process {
namespace {

constexpr int64_t kYoungMs = 5000, kLookAgainMs = 10;
constexpr uint32_t kYoungLooks = 1000;
// A new file gets the lowest free descriptor. If the program closes our file, it will not soon have
// one of its own at this number.
constexpr int kHighDescriptor = 1000;
constexpr size_t kMostStatusBytes = 16384;

// field_of() returns the number behind `field`; -1 if the field is missing.
int64_t field_of(const char *text, const char *field) {
  const char *at = std::strstr(text, field);
  return at == nullptr ? -1 : std::strtoll(at + std::strlen(field), nullptr, 10);
}

// StatusFile is /proc/self/status of this process, kept open.
class StatusFile {
 public:
  static StatusFile &of_process() {
    static auto *const file = new StatusFile();
    return *file;
  }
  StatusFile(const StatusFile &) = delete;

  // end() runs when this module is unloaded. At exit() that is after the last user, unlike the
  // destructors of static objects.
  __attribute__((destructor)) static void end() {
    if (is_made_) of_process().close_own();
  }

  // begin_anew() opens the file again. A library that is being loaded may open files, whatever
  // sandbox came before.
  static void begin_anew() {
    const bool is_new = !is_made_;
    StatusFile &file = of_process();
    if (is_new) return;
    file.lock();
    file.close_own();
    file.open_own();
    file.unlock();
  }
  // read_rights() returns nothing if the kernel does not report the state.
  std::optional<Rights> read_rights() {
    lock();
    std::optional<Rights> rights;
    if (born_in_ == forks()) {
      if (is_closed()) open_own();
      rights = read_open();
    }
    unlock();
    return rights;
  }

 private:
  StatusFile() {
    is_made_ = true;
    open_own();
    (void)pthread_atfork(nullptr, nullptr, [] { of_process().begin_child(); });
  }

  // lock() is a spin lock: another thread holds it for microseconds. A child of fork() may inherit
  // it locked; see begin_child().
  void lock() {
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { busy_.clear(std::memory_order_release); }

  void open_own() {
    const int low = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (low < 0) return;
    int opened = fcntl(low, F_DUPFD_CLOEXEC, kHighDescriptor);
    // If the limit forbids such a high number, any number will do, except those of the standard
    // files.
    if (opened < 0) opened = fcntl(low, F_DUPFD_CLOEXEC, 3);
    close(low);
    if (opened < 0) return;
    if (fstat(opened, &file_) == 0) {
      descriptor_ = opened;
      born_in_ = forks();
      at_open_.reset();
      at_open_ = read_open();
    } else {
      close(opened);
    }
  }

  // close_own() closes the descriptor only if it is still ours: the program may have closed it, and
  // opened another file there.
  void close_own() {
    if (is_ours()) close(descriptor_);
    descriptor_ = -1;
  }

  bool is_ours() const {
    struct stat now;
    return descriptor_ >= 0 && fstat(descriptor_, &now) == 0 && is_same(now);
  }
  // is_closed() says whether the program has closed our file. Servers close descriptors that they
  // do not know. If a sandbox forbids the call, the error is a different one.
  bool is_closed() const {
    struct stat now;
    if (descriptor_ < 0) return false;
    return fstat(descriptor_, &now) == 0 ? !is_same(now) : errno == EBADF;
  }
  bool is_same(const struct stat &now) const {
    return now.st_dev == file_.st_dev && now.st_ino == file_.st_ino;
  }

  // read_open() uses read(), which every sandbox allows.
  std::optional<Rights> read_open() {
    if (!is_ours()) return std::nullopt;
    char text[kMostStatusBytes];
    const std::optional<Rights> rights = rights_of(text, read(descriptor_, text, sizeof text - 1));
    // A new sandbox might forbid lseek(). Nothing is read again once there is a sandbox, so the
    // call is then omitted.
    if (!at_open_ || rights == at_open_) (void)lseek(descriptor_, 0, SEEK_SET);
    return rights;
  }

  static std::optional<Rights> rights_of(char *text, ssize_t bytes) {
    if (bytes <= 0) return std::nullopt;
    text[bytes] = '\0';
    const Rights rights = {.seccomp = field_of(text, "\nSeccomp:"),
                           .filters = field_of(text, "\nSeccomp_filters:")};
    return rights;
  }

  // begin_child() runs in a child of fork(). The child has its parent's sandbox, and has inherited
  // the parent's file. If nothing has changed since that was opened, no sandbox forbids the child
  // to open its own.
  void begin_child() {
    unlock();
    char text[kMostStatusBytes];
    // Parent and child share the file position. pread() does not change it.
    const bool may_open =
        is_ours() ? rights_of(text, pread(descriptor_, text, sizeof text - 1, 0)) == at_open_
                  : is_closed();
    close_own();
    if (may_open) open_own();
  }

  static inline bool is_made_ = false;
  int descriptor_ = -1;
  struct stat file_ = {};
  uint64_t born_in_ = 0;
  std::optional<Rights> at_open_;
  std::atomic_flag busy_;
};

Rights rights_at_load() {
  StatusFile::begin_anew();
  return StatusFile::of_process().read_rights().value_or(Rights{.seccomp = -1});
}

}  // namespace

Root Root::now() {
  struct stat root;
  if (stat("/", &root) != 0) return {};
  return {root.st_dev, root.st_ino};
}

SandboxWatch::SandboxWatch() : at_load_(rights_at_load()), root_at_load_(Root::now()) {}

bool SandboxWatch::has_come() const {
  const CancellationOff not_cancelled;  // reading a file is a cancellation point
  const std::optional<Rights> now = StatusFile::of_process().read_rights();
  if (!now || *now != at_load_) return true;
  // A process that has filters may add more. If the kernel does not report their number, assume
  // that there are more.
  if (now->seccomp != 0 && now->filters < 0) return true;
  return root_at_load_ == Root{} || Root::now() != root_at_load_;
}

bool SandboxWatch::had_come_lately() const {
  timespec time = {};
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const int64_t now_ms = int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1000000;
  if (const uint64_t born_in = forks(); looked_after_forks_ != born_in) {
    first_look_ = now_ms;
    looks_ = 0;
    looked_after_forks_ = born_in;
  } else if ((now_ms - first_look_ > kYoungMs || looks_ > kYoungLooks) &&
             now_ms - last_look_ < kLookAgainMs) {
    return false;
  }
  if (has_come()) return true;
  ++looks_;
  last_look_ = now_ms;
  return false;
}

}  // namespace lanecrypt::process
