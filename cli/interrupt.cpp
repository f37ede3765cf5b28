// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "cli/failure.h"
#include "cli/threads.h"

namespace lanecrypt::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

[[noreturn]] void end_by(int signal_number) {
  std::signal(signal_number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  raise(signal_number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::_Exit(128 + signal_number);
}

}  // namespace

InterruptWatch::InterruptWatch(std::function<void()> on_signal) : end_(eventfd(0, EFD_CLOEXEC)) {
  sigemptyset(&watched_);
  for (int number : kSignals) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&watched_, number);
  }
  signals_ = FileDescriptor(signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!end_ || !signals_) throw_errno("cannot wait for signals", errno);
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  watcher_ = start_thread([this, run = std::move(on_signal)] {
    pollfd events[] = {{end_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    signalfd_siginfo signal{};
    do {
      if (poll(events, 2, -1) < 0) continue;
      if (events[0].revents != 0) return;
    } while (read(signals_.get(), &signal, sizeof signal) != sizeof signal);
    run();
    end_by(static_cast<int>(signal.ssi_signo));
  });
}

InterruptWatch::~InterruptWatch() {
  (void)eventfd_write(end_.get(), 1);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace lanecrypt::cli
