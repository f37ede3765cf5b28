// SPDX-License-Identifier: Apache-2.0
#include "cli/run/keeper.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "process/close_from.h"

namespace lanecrypt::cli {
namespace {

// The numbers that the keeper's descriptors have, and the service's.
enum Place { kProcess = 3, kLife, kReady, kUntilClosed, kFolder, kFirstFree };
// A service that finishes what is under way needs no longer.
constexpr std::chrono::seconds kMostTimeToEnd{20};
constexpr std::chrono::milliseconds kLook{5};

// Gives `descriptor` the number `place`, which no other may still have. It is closed on exec.
bool put(int descriptor, int place) { return dup3(descriptor, place, O_CLOEXEC) == place; }

bool stay_open_in_service(int place) { return fcntl(place, F_SETFD, 0) == 0; }

// Closes what the program and the keeper would share: a reader of the program's output must
// see its end when the program has ended. Only the keeper holds the other end of the pipe
// `kUntilClosed`. *folder is a descriptor of the folder afterwards too, also if this fails.
bool arrange_descriptors(const KeeperTask &task, int *folder) {
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) return false;
  // Numbers that are no place, so that none is overwritten.
  const int process = fcntl(task.process.descriptor.get(), F_DUPFD_CLOEXEC, kFirstFree);
  const int ready = fcntl(task.ready, F_DUPFD_CLOEXEC, kFirstFree);
  const int reading = fcntl(life[0], F_DUPFD_CLOEXEC, kFirstFree);
  const int writing = fcntl(life[1], F_DUPFD_CLOEXEC, kFirstFree);
  const int ours = fcntl(*folder, F_DUPFD_CLOEXEC, kFirstFree);
  if (process < 0 || ready < 0 || reading < 0 || writing < 0 || ours < 0) return false;
  *folder = ours;
  if (!put(process, kProcess) || !put(writing, kLife) || !put(ready, kReady) ||
      !put(reading, kUntilClosed) || !put(ours, kFolder))
    return false;
  *folder = kFolder;
  if (!process::close_from(kFirstFree)) return false;
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int log =
      openat(kFolder, "log", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  const bool done = nothing >= 0 && log >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
                    dup2(nothing, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0;
  return process::close_from(kFirstFree) && done;
}

[[noreturn]] void become_service(const KeeperTask &task) {
  std::vector<std::string> words = {task.program};
  words.insert(words.end(), task.arguments.begin(), task.arguments.end());
  for (const char *word : {"--ready-fd", "", "--until-closed", ""}) words.emplace_back(word);
  words[words.size() - 3] = std::to_string(kReady);
  words.back() = std::to_string(kUntilClosed);
  std::vector<char *> argv;
  for (std::string &word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (stay_open_in_service(kReady) && stay_open_in_service(kUntilClosed)) {
    sigprocmask(SIG_SETMASK, &task.signals, nullptr);
    execv(argv[0], argv.data());
  }
  (void)dprintf(STDERR_FILENO, "lanecrypt: cannot run %s: %s\n", argv[0], std::strerror(errno));
  _exit(127);
}

// The service ends because the keeper has closed its pipe, or by force.
void end_service(pid_t service) {
  const auto end = std::chrono::steady_clock::now() + kMostTimeToEnd;
  while (waitpid(service, nullptr, WNOHANG) == 0) {
    // Not yet waited for, so the number is still the service's.
    if (std::chrono::steady_clock::now() >= end) (void)kill(service, SIGKILL);
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

void keep_service(const KeeperTask &task) {
  (void)setsid();
  (void)chdir("/");
  (void)prctl(PR_SET_NAME, "lanecrypt-keep");
  pid_t service = -1;
  int folder = task.folder.descriptor.get();
  if (arrange_descriptors(task, &folder)) {
    service = fork();
    if (service == 0) become_service(task);
    (void)close(kReady);
    (void)close(kUntilClosed);
    wait_for_end(kProcess, task.process.by);
  } else {
    (void)dprintf(STDERR_FILENO, "lanecrypt: cannot keep a service: %s\n", std::strerror(errno));
  }
  (void)close(kLife);
  if (service > 0) end_service(service);
  clear_private_folder(folder, task.folder.path);
  _exit(0);
}

}  // namespace lanecrypt::cli
