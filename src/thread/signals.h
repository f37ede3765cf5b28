// Blocks signals in the library's threads. If one of our threads took a signal, it would run the
// program's handler, and the program's thread that waits for the signal would not wake.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

namespace lanecrypt::runtime {

// `SignalsBlocked`: threads that are started while it exists, and those that they start, get no
// signals except those of their own faults.
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

}  // namespace lanecrypt::runtime
