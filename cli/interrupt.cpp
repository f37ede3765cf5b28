// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <pthread.h>

#include <cstdlib>
#include <utility>

namespace lanecrypt::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// Ends the watcher; sent to its thread alone.
constexpr int kEndSignal = SIGUSR1;

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

InterruptWatch::InterruptWatch(std::function<void()> on_signal) {
  sigemptyset(&watched_);
  for (int number : kSignals) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&watched_, number);
  }
  sigaddset(&watched_, kEndSignal);
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  watcher_ = std::thread([watched = watched_, run = std::move(on_signal)] {
    int number = 0;
    while (sigwait(&watched, &number) != 0) {
    }
    if (number == kEndSignal) return;
    run();
    end_by(number);
  });
}

InterruptWatch::~InterruptWatch() {
  pthread_kill(watcher_.native_handle(), kEndSignal);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace lanecrypt::cli
