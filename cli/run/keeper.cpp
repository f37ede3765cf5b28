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

// The descriptor numbers of the keeper and the service.
enum FixedDescriptor { kProcess = 3, kLife, kReady, kUntilClosed, kFolder, kFirstFree };
// The time after which the service is killed. It needs less to finish its running operations.
constexpr std::chrono::seconds kMostTimeToEnd{20};
constexpr std::chrono::milliseconds kLook{5};

// Duplicates `descriptor` to the number `number`, close-on-exec. No descriptor that is still needed
// may have that number.
bool put(int descriptor, int number) { return dup3(descriptor, number, O_CLOEXEC) == number; }

bool stay_open_in_service(int number) { return fcntl(number, F_SETFD, 0) == 0; }

// Closes the descriptors that the keeper would share with the program, so that a reader of the
// program's output sees its end when the program ends. Moves the others to the numbers of Place.
// Only the keeper holds the write end of the pipe `kUntilClosed`. *folder is a valid descriptor of
// the folder afterwards, even if this returns false.
bool arrange_descriptors(const KeeperTask &task, int *folder) {
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) return false;
  // Moves the descriptors away from the numbers of Place, so that none is overwritten.
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

// Waits for the service to end, which it does because the keeper has closed its pipe. Kills it
// after `kMostTimeToEnd`.
void end_service(pid_t service) {
  const auto end = std::chrono::steady_clock::now() + kMostTimeToEnd;
  while (waitpid(service, nullptr, WNOHANG) == 0) {
    // The service has not been reaped, so its process ID is still valid.
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
