// Signals are the program's business. A thread of ours that took one would run
// the program's handler, and the thread that waits for it would sleep on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

namespace lanecrypt::schedule {

// Threads that are started while this lives, and those that they start, are
// sent no signal but of a fault of their own.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;

 private:
  sigset_t before_;
};

}  // namespace lanecrypt::schedule
