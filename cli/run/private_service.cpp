// SPDX-License-Identifier: Apache-2.0
#include "cli/run/private_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/run/keeper.h"
#include "process/printable.h"

namespace lanecrypt::cli {
namespace {

// The most time for the service to start. A driver may need long.
constexpr std::chrono::seconds kMostTimeToStart{120};

// Blocks all signals of this thread while it exists.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;

  const sigset_t &before() const { return before_; }

 private:
  sigset_t before_;
};

// Starts the keeper with a double fork, so that it is not a child of this process: the program that
// this process executes must not find a child that it did not start.
void start_keeper(const KeeperTask &task) {
  const pid_t between = fork();
  if (between < 0) throw_errno("cannot start a process", errno);
  if (between == 0) {
    const pid_t keeper = fork();
    if (keeper == 0) keep_service(task);
    _exit(keeper > 0 ? 0 : 1);
  }
  int status = 0;
  while (waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw Failure(ExitCode::kFailed, "cannot start a process");
}

std::string log_of(const PrivateService &service) {
  const FileDescriptor log(
      openat(service.folder.descriptor.get(), "log", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string text;
  char piece[4096];
  for (ssize_t bytes; (bytes = read(log.get(), piece, sizeof piece)) > 0;)
    text.append(piece, size_t(bytes));
  return text;
}

// Returns whether "ready\n" arrived before the other end was closed and within the time limit.
bool reads_ready(int descriptor) {
  const auto end = std::chrono::steady_clock::now() + kMostTimeToStart;
  constexpr std::string_view kReady = "ready\n";
  char said[kReady.size()];
  size_t have = 0;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd event{descriptor, POLLIN, 0};
    if (left.count() <= 0) return false;
    if (poll(&event, 1, int(left.count())) <= 0) continue;
    const ssize_t bytes = read(descriptor, said + have, sizeof said - have);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    have += size_t(bytes);
    if (kReady.substr(0, have) != std::string_view(said, have)) return false;
    if (have == kReady.size()) return true;
  }
}

}  // namespace

PrivateService start_private_service(const std::string &program,
                                     const std::vector<std::string> &arguments) {
  const WatchedProcess self = WatchedProcess::self();
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw_errno("cannot start a service", errno);
  PrivateService service{{}, FileDescriptor(ready[0])};
  const FileDescriptor other(ready[1]);
  // Until the keeper runs, nothing else would remove the folder if a signal ended this process.
  const SignalsBlocked signals;
  service.folder = make_private_folder();
  try {
    KeeperTask task{service.folder, program,     {"--socket", service.socket()},
                    self,           other.get(), signals.before()};
    task.arguments.insert(task.arguments.end(), arguments.begin(), arguments.end());
    start_keeper(task);
  } catch (const Failure &) {
    clear_private_folder(service.folder.descriptor.get(), service.folder.path);
    throw;
  }
  return service;
}

void wait_until_ready(const PrivateService &service) {
  if (reads_ready(service.ready.get())) return;
  std::istringstream log(log_of(service));
  for (std::string line; std::getline(log, line);) say(process::printable(line) + "\n");
  throw Failure(ExitCode::kFailed, "the service, lanecryptd, did not start");
}

}  // namespace lanecrypt::cli
