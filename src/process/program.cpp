// Starts helper programs without making them children of the calling process.
//
// SPDX-License-Identifier: Apache-2.0
#include "process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "process/close_from.h"
#include "process/thread.h"

namespace lanecrypt::process {
namespace {

constexpr size_t kMostOutputBytes = 4 << 20;
constexpr size_t kStackBytes = 64 << 10;
constexpr int kTurnsToEnd = 100, kTurnUs = 2000;
// A program whose output is complete and closed has begun to end. It may have to wait for a core.
constexpr int kTurnsOfOneThatIsDone = 5000;

// Start has what the new process needs before it executes the program. Until then it shares this
// process's memory, so it calls nothing that takes a lock or changes our state.
struct Start {
  const char *path;
  char *const *arguments;
  char *const *environment;
  char *stack;  // the stack of the second process
  int output, nothing;
  sigset_t signals;
  int error = 0;
  int told = -1;  // the pipe for errors of a process that does not share this memory
};

int become_program(void *pointer) {
  Start &start = *static_cast<Start *>(pointer);
  // Otherwise a signal handler of this process would run in the new process, in the shared memory.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    (void)sigaction(number, &action, nullptr);
  }
  (void)sigprocmask(SIG_SETMASK, &start.signals, nullptr);
  // It gets its own session, so that signals from a terminal to this process's group do not reach
  // it.
  (void)setsid();
  if (dup2(start.nothing, 0) >= 0 && dup2(start.output, 1) >= 0 && dup2(start.nothing, 2) >= 0) {
    // This closes the descriptors that lack FD_CLOEXEC.
    (void)close_from(3);
    execve(start.path, start.arguments, start.environment);
  }
  start.error = errno;
  _exit(127);
}

// start_and_leave() runs in an intermediate process between us and the program. When that process
// ends, the program is no longer our child. One step is not sufficient, because the kernel resets a
// process's exit signal to SIGCHLD when it executes a new program.
int start_and_leave(void *pointer) {
  Start &start = *static_cast<Start *>(pointer);
  if (clone(become_program, start.stack, CLONE_VM | CLONE_VFORK, &start) < 0) start.error = errno;
  _exit(0);
}

// no_standard_one() moves a descriptor above 2. A program may have closed its standard descriptors,
// and ours must not take their numbers.
int no_standard_one(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  close(descriptor);
  return higher;
}

// is_other_namespace_ahead() says whether the next child enters another PID namespace. After
// unshare(CLONE_NEWPID) the first child is the first process of the new namespace, which ends with
// it. That child must be the program's own.
bool is_other_namespace_ahead() {
  char own[64] = "", next[64] = "";
  const ssize_t bytes = readlink("/proc/self/ns/pid", own, sizeof own - 1);
  return bytes > 0 && (readlink("/proc/self/ns/pid_for_children", next, sizeof next - 1) != bytes ||
                       std::strcmp(own, next) != 0);
}

// adopts_orphans() says whether processes that have lost their parent become children of this
// process.
bool adopts_orphans() {
  int is_subreaper = 0;
  return getpid() == 1 ||
         (prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper, 0, 0, 0) == 0 && is_subreaper != 0);
}

// start_and_stay() runs in the intermediate process if this process adopts orphans. That process
// has its own memory, lives as long as the program, and keeps no descriptor open.
[[noreturn]] void start_and_stay(Start &start) {
  (void)setsid();
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (clone(become_program, start.stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &start) < 0)
    start.error = errno;
  if (start.error != 0) (void)!write(start.told, &start.error, sizeof start.error);
  (void)close_from(0);
  while (waitpid(-1, nullptr, __WALL) > 0 || errno == EINTR) {
  }
  _exit(0);
}

std::vector<char *> environment_without_openssl() {
  std::vector<char *> kept;
  for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "OPENSSL_", 8) != 0) kept.push_back(*entry);
  kept.push_back(nullptr);
  return kept;
}

// start_staying() starts such an intermediate process and returns its process ID; -1, with
// start.error set, on failure.
pid_t start_staying(Start &start) {
  int told[2];
  if (pipe2(told, O_CLOEXEC) != 0) {
    start.error = errno;
    return -1;
  }
  start.told = told[1];
  // This is like fork(), with these differences: no signal is sent when the child ends, only our
  // own wait sees it, and no fork handlers run.
  const auto staying = static_cast<pid_t>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, 0));
  if (staying == 0) start_and_stay(start);
  if (staying < 0) start.error = errno;
  close(told[1]);
  // This reads nothing, and the end of the pipe, if the program was started.
  while (staying > 0 && read(told[0], &start.error, sizeof start.error) < 0 && errno == EINTR) {
  }
  close(told[0]);
  return staying;
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

  if (is_other_namespace_ahead()) {
    *why = "this process's children get a PID namespace of their own";
    return nullptr;
  }

  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return fail("no pipe");
  for (int &end : ends) end = no_standard_one(end);
  const int nothing = no_standard_one(open("/dev/null", O_RDWR | O_CLOEXEC));
  void *stacks = mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  pid_t staying = -1;
  Start start = {.path = path.c_str(),
                 .arguments = words.data(),
                 .environment = environment.data(),
                 .stack = static_cast<char *>(stacks) + 2 * kStackBytes,
                 .output = ends[1],
                 .nothing = nothing,
                 .signals = {}};
  if (nothing < 0 || ends[0] < 0 || ends[1] < 0 || stacks == MAP_FAILED) {
    start.error = errno;
  } else {
    // The write end is blocking, because the program expects that.
    (void)fcntl(ends[1], F_SETFL, 0);
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &start.signals);
    if (adopts_orphans()) {
      staying = start_staying(start);
    } else {
      // The lowest byte of the flags, the exit signal, is 0: no signal is sent, and only this
      // waitpid() sees the child.
      const pid_t between = clone(start_and_leave, static_cast<char *>(stacks) + kStackBytes,
                                  CLONE_VM | CLONE_VFORK, &start);
      if (between < 0) start.error = errno;
      while (between > 0 && waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
      }
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
  return std::unique_ptr<Program>(new Program(ends[0], staying));
}

Program::~Program() { (void)end(State::kFailed); }

Program::State Program::end(State state) {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  // The program only has to end now, which takes as long as its driver needs.
  const int turns = state == State::kDone ? kTurnsOfOneThatIsDone : kTurnsToEnd;
  for (int turn = 0; staying_ > 0 && turn < turns; ++turn) {
    if (waitpid(staying_, nullptr, WNOHANG | __WCLONE) != 0)
      staying_ = -1;
    else
      usleep(kTurnUs);
  }
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
