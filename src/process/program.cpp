// SPDX-License-Identifier: Apache-2.0
#include "process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "process/thread.h"

namespace lanecrypt::process {
namespace {

constexpr size_t kMostOutputBytes = 4 << 20;
constexpr size_t kStackBytes = 64 << 10;

// What the new process needs before it becomes the program. Until then it shares this
// process's memory, so it calls nothing that takes a lock or changes what is ours.
struct Start {
  const char *path;
  char *const *arguments;
  char *const *environment;
  char *stack;  // of the second of the two
  int output, nothing;
  sigset_t signals;
  int error = 0;
};

int become_program(void *pointer) {
  Start &start = *static_cast<Start *>(pointer);
  // A handler of this process would run in its memory.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    (void)sigaction(number, &action, nullptr);
  }
  (void)sigprocmask(SIG_SETMASK, &start.signals, nullptr);
  // Its own session: what a terminal sends to this process's group is not for it.
  (void)setsid();
  if (dup2(start.nothing, 0) >= 0 && dup2(start.output, 1) >= 0 && dup2(start.nothing, 2) >= 0) {
    // Whatever of this process's was not marked to be closed.
    (void)close_range(3, ~0u, 0);
    execve(start.path, start.arguments, start.environment);
  }
  start.error = errno;
  _exit(127);
}

// The process between: when it ends, the program is nobody's child any more. (What
// begins a program anew gets SIGCHLD back as its last signal, so one step will not do.)
int start_and_leave(void *pointer) {
  Start &start = *static_cast<Start *>(pointer);
  if (clone(become_program, start.stack, CLONE_VM | CLONE_VFORK, &start) < 0) start.error = errno;
  _exit(0);
}

std::vector<char *> environment_without_openssl() {
  std::vector<char *> kept;
  for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "OPENSSL_", 8) != 0) kept.push_back(*entry);
  kept.push_back(nullptr);
  return kept;
}

}  // namespace

std::unique_ptr<Program> Program::start(const std::string &path,
                                        const std::vector<std::string> &arguments,
                                        std::string *why) {
  if (is_sandboxed()) {
    *why = Sandboxed().what();
    return nullptr;
  }
  const auto fail = [&](const char *what) {
    *why = std::string(what) + ": " + std::strerror(errno);
    return nullptr;
  };
  std::vector<char *> words = {const_cast<char *>(path.c_str())};
  for (const std::string &argument : arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  const std::vector<char *> environment = environment_without_openssl();

  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return fail("no pipe");
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  void *stacks = mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  Start start = {.path = path.c_str(),
                 .arguments = words.data(),
                 .environment = environment.data(),
                 .stack = static_cast<char *>(stacks) + 2 * kStackBytes,
                 .output = ends[1],
                 .nothing = nothing,
                 .signals = {}};
  if (nothing < 0 || stacks == MAP_FAILED) {
    start.error = errno;
  } else {
    // The program writes without regard to whether there is room.
    (void)fcntl(ends[1], F_SETFL, 0);
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &start.signals);
    // No signal when it ends, in the flags' lowest byte: then no wait() but this sees it.
    const pid_t between = clone(start_and_leave, static_cast<char *>(stacks) + kStackBytes,
                                CLONE_VM | CLONE_VFORK, &start);
    if (between < 0) start.error = errno;
    while (between > 0 && waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
    (void)pthread_sigmask(SIG_SETMASK, &start.signals, nullptr);
  }
  if (stacks != MAP_FAILED) (void)munmap(stacks, 2 * kStackBytes);
  if (nothing >= 0) close(nothing);
  close(ends[1]);
  if (start.error != 0) {
    close(ends[0]);
    errno = start.error;
    return fail(path.c_str());
  }
  return std::unique_ptr<Program>(new Program(ends[0]));
}

Program::~Program() { (void)end(State::kFailed); }

Program::State Program::end(State state) {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  return state_ = state;
}

Program::State Program::wait(std::chrono::milliseconds limit) {
  const auto end_time = std::chrono::steady_clock::now() + limit;
  while (state_ == State::kRuns) {
    char bytes[4096];
    const ssize_t got = read(descriptor_, bytes, sizeof bytes);
    if (got > 0) {
      output_.append(bytes, static_cast<size_t>(got));
      if (output_.size() > kMostOutputBytes) return end(State::kFailed);
      continue;
    }
    if (got == 0) {
      const bool is_whole = output_.ends_with(kLastLine);
      if (is_whole) output_.resize(output_.size() - std::strlen(kLastLine));
      return end(is_whole ? State::kDone : State::kFailed);
    }
    if (errno == EINTR) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_time - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd one = {.fd = descriptor_, .events = POLLIN, .revents = 0};
    (void)poll(&one, 1, static_cast<int>(left.count()));
  }
  return state_;
}

}  // namespace lanecrypt::process
