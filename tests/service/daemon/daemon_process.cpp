// SPDX-License-Identifier: Apache-2.0
#include "daemon_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace lanecrypt::service::test {
namespace {

constexpr int kPatienceMs = 120000;
constexpr int kReady = 9;  // the descriptor of --ready-fd in the child

}  // namespace

DaemonProcess::DaemonProcess(Options options, std::string path)
    : path_(path.empty() ? folder_.path() + "/socket" : std::move(path)),
      log_path_(folder_.path() + "/log") {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<std::string> words = {LANECRYPT_DAEMON, "--socket", path_, "--ready-fd",
                                    std::to_string(kReady)};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  number_ = fork();
  if (number_ == 0) {
    unsetenv("LANECRYPT_DEVICES");
    for (const auto &[name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    const int log = open(log_path_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(log, STDERR_FILENO);
    dup2(ready[1], kReady);
    // If the descriptor has that number already, dup2() has not cleared FD_CLOEXEC.
    fcntl(kReady, F_SETFD, 0);
    options.in_child();
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ready[1]);
  pollfd at_end{ready[0], POLLIN, 0};
  char text[16] = {};
  if (options.awaits_ready)
    (void)(poll(&at_end, 1, kPatienceMs) == 1 && read(ready[0], text, sizeof text) > 0);
  close(ready[0]);
  if (options.awaits_ready && std::string(text) != "ready\n") {
    (void)kill(number_, SIGKILL);
    throw std::runtime_error("lanecryptd is not ready: " + log());
  }
}

DaemonProcess::~DaemonProcess() {
  if (number_ <= 0) return;
  (void)kill(number_, SIGKILL);
  (void)waitpid(number_, nullptr, 0);
}

bool DaemonProcess::is_running() { return number_ > 0 && kill(number_, 0) == 0; }

void DaemonProcess::send_signal(int signal) {
  (void)kill(number_, signal);
  // It may go on for a moment after kill() has returned.
  siginfo_t state{};
  if (signal == SIGSTOP) (void)waitid(P_PID, id_t(number_), &state, WSTOPPED | WNOWAIT);
}

int DaemonProcess::wait() {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (number_ > 0 && std::chrono::steady_clock::now() < end) {
    int status = 0;
    if (waitpid(number_, &status, WNOHANG) == number_) {
      number_ = -1;
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      break;
    }
    std::this_thread::sleep_for(5ms);
  }
  return code_;
}

std::string DaemonProcess::log() const {
  std::ostringstream text;
  text << std::ifstream(log_path_).rdbuf();
  return text.str();
}

std::string DaemonProcess::place_in_memory(const std::vector<uint8_t> &bytes) const {
  const std::string folder = "/proc/" + std::to_string(number_);
  std::ifstream maps(folder + "/maps");
  const int memory = open((folder + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) throw std::runtime_error("its memory cannot be read");
  std::string place;
  for (std::string line; std::getline(maps, line) && place.empty();) {
    unsigned long begin = 0, end = 0;
    char rights[5] = {};
    if (sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[1] != 'w')
      continue;
    constexpr size_t kPiece = 1 << 20;
    std::vector<uint8_t> piece(kPiece + bytes.size());
    for (unsigned long at = begin; at < end && place.empty(); at += kPiece) {
      const size_t wanted = std::min<size_t>(piece.size(), end - at);
      const ssize_t got = pread(memory, piece.data(), wanted, off_t(at));
      if (got <= 0) continue;
      const void *const found = memmem(piece.data(), size_t(got), bytes.data(), bytes.size());
      if (found != nullptr) {
        const auto offset = size_t(static_cast<const uint8_t *>(found) - piece.data());
        place = line + " + " + std::to_string(at + offset - begin);
      }
    }
  }
  close(memory);
  return place;
}

}  // namespace lanecrypt::service::test
