// How the library deals with its process: forks, sandboxes, and helper programs. No device is
// needed.
//
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "device/device_enumeration.h"
#include "process/close_from.h"
#include "process/first_user.h"
#include "process/forks.h"
#include "process/of_process.h"
#include "process/program.h"
#include "process/sandbox.h"

namespace {

using namespace lanecrypt;
using process::Program;
using process::SandboxWatch;
using std::chrono::milliseconds;

// Runs `work` in a child of fork, and returns its result.
int in_child(const std::function<int()> &work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = -1;
  EXPECT_EQ(child, waitpid(child, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Forks, CountEveryCopyOfAProcess) {
  const uint64_t here = process::forks();
  EXPECT_EQ(0, in_child([&] {
              if (process::forks() != here + 1) return 1;
              // _Fork() runs no handlers of pthread_atfork().
              const pid_t child = _Fork();
              if (child == 0) _exit(process::forks() == here + 2 ? 0 : 1);
              int status = -1;
              (void)waitpid(child, &status, 0);
              return status;
            }));
  EXPECT_EQ(here, process::forks());
}

// The first process of a container has PID 1, and so has its child in a nested container. PIDs do
// not tell them apart.
TEST(Forks, TellApartProcessesOfOneNumber) {
  const int code = in_child([] {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 && unshare(CLONE_NEWPID) != 0) return 77;
    const pid_t first = fork();
    if (first == 0) {
      if (getpid() != 1) _exit(2);
      const uint64_t here = process::forks();
      if (unshare(CLONE_NEWPID) != 0) _exit(77);
      const pid_t second = fork();
      if (second == 0) _exit(getpid() == 1 && process::forks() == here + 1 ? 0 : 3);
      int status = -1;
      (void)waitpid(second, &status, 0);
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
    }
    int status = -1;
    (void)waitpid(first, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
  });
  if (code == 77) GTEST_SKIP() << "this machine makes no namespaces";
  EXPECT_EQ(0, code);
}

TEST(Forks, AChildOfTheFirstUserIsNone) {
  static constinit process::FirstUser of_child, of_parent;
  EXPECT_EQ(0, in_child([] { return of_child.begin() && !of_child.is_parent() ? 0 : 1; }));
  EXPECT_FALSE(of_child.is_parent());
  EXPECT_TRUE(of_child.begin());
  EXPECT_TRUE(of_parent.begin());
  EXPECT_TRUE(of_parent.begin());
  EXPECT_EQ(0, in_child([] {
              if (!of_parent.is_parent() || of_parent.begin()) return 1;
              return in_child([] { return of_parent.is_parent() && !of_parent.begin() ? 0 : 2; });
            }));
  EXPECT_FALSE(of_parent.is_parent());
}

// A thread that the child does not have may hold the lock.
TEST(Forks, AChildLeavesWhatItsParentHas) {
  struct Book {
    std::mutex mutex;
    int number = 0;
  };
  static constinit process::OfProcess<Book> books;
  Book &book = books.get();
  EXPECT_EQ(&book, &books.get());
  const std::lock_guard lock(book.mutex);
  book.number = 1;
  EXPECT_EQ(0, in_child([&] {
              if (&books.get() == &book || !books.get().mutex.try_lock()) return 1;
              return books.get().number == 0 && &books.get() == &books.get() ? 0 : 2;
            }));
  EXPECT_EQ(&book, &books.get());
}

// Installs another seccomp filter, which forbids nothing. Returns false if there is no seccomp.
bool sandbox_this_process() {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter = {1, allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(Sandbox, IsSeenOnceItHasCome) {
  const int code = in_child([] {
    const SandboxWatch watch;
    if (watch.has_come()) return 1;
    // This alone is no sandbox.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || watch.has_come()) return 2;
    if (!sandbox_this_process()) return 77;
    return watch.has_come() ? 0 : 3;
  });
  if (code == 77) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_EQ(0, code);
}

// A container has a sandbox from the start. A further one is noticed.
TEST(Sandbox, OfAContainerIsNoneAndAFurtherOneIs) {
  const int code = in_child([] {
    if (!sandbox_this_process()) return 77;
    const SandboxWatch watch;
    if (watch.has_come()) return 1;
    // A child asks again.
    return in_child([&] {
      if (!sandbox_this_process()) return 2;
      return watch.has_come() ? 0 : 3;
    });
  });
  if (code == 77) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_EQ(0, code);
}

// Servers close descriptors that they do not know, and open their own with the same numbers. The
// library must not read from those.
TEST(Sandbox, IsToldWhereTheProgramClosedOurFile) {
  const int code = in_child([] {
    const SandboxWatch watch;
    int ends[2];
    if (close_range(3, ~0u, 0) != 0 || pipe(ends) != 0 || write(ends[1], "x", 1) != 1) return 5;
    for (int number = 100; number < 1024; ++number) (void)dup2(ends[0], number);
    if (watch.has_come() || watch.had_come_lately()) return 1;
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1 || byte != 'x') return 2;
    if (!sandbox_this_process()) return 77;
    return watch.has_come() && watch.had_come_lately() && watch.had_come_lately() ? 0 : 4;
  });
  if (code == 77) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_EQ(0, code);
}

// A sandbox like sshd's, whose process may do little more than read.
TEST(Sandbox, MayForbidToAskOrToOpen) {
  const int code = in_child([] {
    const SandboxWatch watch;
    const pid_t worker = fork();
    if (worker != 0) {
      int status = -1;
      (void)waitpid(worker, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
    }
    sock_filter forbid[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const sock_fprog filter = {5, forbid};
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) _exit(77);
    _exit(watch.has_come() && watch.had_come_lately() ? 0 : 3);
  });
  if (code == 77) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_EQ(0, code);
}

// After chroot() the library's file names may refer to other users' files.
TEST(Sandbox, IsAnotherRoot) {
  const int code = in_child([] {
    const SandboxWatch watch;
    if (watch.has_come()) return 1;
    if (chroot("/proc/self") != 0) return 77;
    return watch.has_come() ? 0 : 2;
  });
  if (code == 77) GTEST_SKIP() << "only root changes the root";
  EXPECT_EQ(0, code);
}

// Opens more descriptors than one read of /proc returns, and closes all from 10 on. Returns 0 if
// exactly these were closed.
int open_many_and_close() {
  for (int number = 3; number < 400; ++number)
    if (dup2(0, number) != number) return 1;
  if (!process::close_from(10)) return 2;
  for (int number = 3; number < 1024; ++number)
    if ((fcntl(number, F_GETFD) != -1) != (number < 10)) return 3;
  return 0;
}

// Makes the system call `call` fail with `error` in this process, without any other effect.
bool make_fail(long call, int error) {
  sock_filter fail[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {4, fail};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(CloseFrom, ClosesTheseAndNoOthers) { EXPECT_EQ(0, in_child(open_many_and_close)); }

// As on Linux before 5.9, which lacks close_range().
TEST(CloseFrom, WorksWithoutASystemCallForIt) {
  const int code = in_child([] {
    if (!make_fail(SYS_close_range, ENOSYS)) return 77;
    return syscall(SYS_close_range, 1000, ~0u, 0) == -1 ? open_many_and_close() : 4;
  });
  if (code == 77) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_EQ(0, code);
}

// The caller must then be told that some may still be open.
TEST(CloseFrom, SaysWhereItCannotTellWhichThereAre) {
  const int code = in_child([] {
    if (!make_fail(SYS_close_range, ENOSYS) || !make_fail(SYS_openat, EACCES)) return 77;
    return process::close_from(10) ? 1 : 0;
  });
  if (code == 77) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_EQ(0, code);
}

std::atomic<int> children_heard_of{0};

// As in the first process of a container, which adopts all orphans as children.
TEST(Program, IsNobodysChildWhereOrphansAreAdopted) {
  EXPECT_EQ(0, in_child([] {
              if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return 77;
              children_heard_of = 0;
              (void)signal(SIGCHLD, [](int) { ++children_heard_of; });
              std::string why;
              const auto program =
                  Program::start("/bin/sh", {"-c", "sleep 0.1; echo said; echo end"}, &why);
              if (program == nullptr) return 1;
              if (waitpid(-1, nullptr, WNOHANG) != -1) return 2;
              if (program->wait(milliseconds(30000)) != Program::State::kDone) return 3;
              if (program->output() != "said\n") return 4;
              if (waitpid(-1, nullptr, WNOHANG | __WALL) != -1) return 5;
              std::string missing;
              if (Program::start("/nowhere", {}, &missing) != nullptr || missing.empty()) return 6;
              return children_heard_of == 0 ? 0 : 7;
            }));
}

// A PID namespace ends with its first process. That must not be the helper program, so the first
// child must be the program's own.
TEST(Program, IsNotTheFirstOfAPidNamespace) {
  const int code = in_child([] {
    if (unshare(CLONE_NEWPID) != 0) return 77;
    std::string why;
    if (Program::start("/bin/true", {}, &why) != nullptr || why.empty()) return 1;
    return in_child([] { return getpid() == 1 ? 0 : 2; });
  });
  if (code == 77) GTEST_SKIP() << "this machine makes no namespaces";
  EXPECT_EQ(0, code);
}

TEST(Program, NeedsNoStandardFiles) {
  EXPECT_EQ(0, in_child([] {
              for (int number = 0; number < 3; ++number) close(number);
              std::string why;
              const auto program = Program::start("/bin/sh", {"-c", "echo end"}, &why);
              if (program == nullptr || fcntl(0, F_GETFD) != -1) return 1;
              return program->wait(milliseconds(30000)) == Program::State::kDone ? 0 : 2;
            }));
}

TEST(Program, IsNobodysChild) {
  children_heard_of = 0;
  const auto before = signal(SIGCHLD, [](int) { ++children_heard_of; });
  std::string why;
  const auto program = Program::start("/bin/sh", {"-c", "echo said; echo end"}, &why);
  ASSERT_NE(nullptr, program) << why;
  EXPECT_EQ(-1, waitpid(-1, nullptr, WNOHANG | __WALL));
  EXPECT_EQ(ECHILD, errno);
  EXPECT_EQ(Program::State::kDone, program->wait(milliseconds(60000)));
  EXPECT_EQ("said\n", program->output());
  EXPECT_EQ(0, children_heard_of);
  signal(SIGCHLD, before);
}

TEST(Program, OfWhichNobodyHearsTheEndHasFailed) {
  std::string why;
  for (const char *script :
       {"echo said", "kill -9 $$", "echo end; echo more", "exec >&-; sleep 1"}) {
    const auto program = Program::start("/bin/sh", {"-c", script}, &why);
    ASSERT_NE(nullptr, program) << why;
    EXPECT_EQ(Program::State::kFailed, program->wait(milliseconds(60000))) << script;
  }
  EXPECT_EQ(nullptr, Program::start("/nonexistent/program", {}, &why));
  EXPECT_NE(std::string::npos, why.find("/nonexistent/program")) << why;
}

// The helper program does not inherit descriptors, blocked signals or OpenSSL's variables.
TEST(Program, InheritsNothingThatIsNotMeantForIt) {
  setenv("OPENSSL_CONF", "/some/file", 1);
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  std::string why;
  const auto program = Program::start(
      "/bin/sh", {"-c", "echo \"[$OPENSSL_CONF]\"; ls /proc/self/fd | wc -l; echo end"}, &why);
  unsetenv("OPENSSL_CONF");
  ASSERT_NE(nullptr, program) << why;
  EXPECT_EQ(Program::State::kDone, program->wait(milliseconds(60000)));
  // Descriptors 0, 1 and 2, and the folder that ls reads.
  EXPECT_EQ("[]\n4\n", program->output());
  close(ends[0]);
  close(ends[1]);
}

TEST(DeviceEnumeration, TextTellsAllOfADevice) {
  std::vector<device::Properties> all = {{}, {}};
  all[0].id = "cuda:0";
  all[0].api = "cuda";
  all[0].name = "a card\nof two lines";
  all[0].memory_bytes = uint64_t{1} << 40;
  all[0].is_gpu = all[0].banked_shared = true;
  all[1].id = "gl:0";
  all[1].kernels = {"aes_ctr", "aes_ecb"};
  all[1].kernel_sets = device::bit_of(device::KernelSet::kCiphers);
  all[1].pci_address = 0x1234500000;
  std::vector<device::Properties> read;
  ASSERT_TRUE(device::from_text(device::to_text(all), &read));
  ASSERT_EQ(2u, read.size());
  EXPECT_EQ("a card of two lines", read[0].name);
  EXPECT_EQ(all[0].memory_bytes, read[0].memory_bytes);
  EXPECT_TRUE(read[0].is_gpu && read[0].banked_shared && read[0].has(device::KernelSet::kRsa));
  EXPECT_EQ(all[1].kernels, read[1].kernels);
  EXPECT_TRUE(read[1].has(device::KernelSet::kCiphers));
  EXPECT_FALSE(read[1].has(device::KernelSet::kRsa));
  EXPECT_EQ(all[1].pci_address, read[1].pci_address);
  EXPECT_EQ(device::to_text(read), device::to_text({read[0], read[1]}));
}

TEST(DeviceEnumeration, TextOfAnotherKindIsRefused) {
  const std::string whole = device::to_text({device::Properties()});
  std::vector<device::Properties> read;
  EXPECT_TRUE(device::from_text("", &read));
  EXPECT_TRUE(read.empty());
  for (const std::string &text : {std::string("none"), whole.substr(0, whole.size() - 1),
                                  whole.substr(1), whole + "x", "id x\n" + whole}) {
    read.clear();
    EXPECT_FALSE(device::from_text(text, &read)) << text;
  }
}

}  // namespace
