// pthread_cancel() ends a thread at most of its waits by an exception of the C library's,
// which passes neither a call of ours nor a lock that it holds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace lanecrypt::process {

// While it lives this thread is not cancelled; whoever wants that waits.
class CancellationOff {
 public:
  CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationOff() { pthread_setcancelstate(before_, nullptr); }
  CancellationOff(const CancellationOff &) = delete;

 private:
  int before_ = 0;
};

}  // namespace lanecrypt::process
