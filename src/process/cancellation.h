// pthread_cancel() ends a thread at most of its waits, by an exception of the C
// library's. That exception must not pass through a call of ours or a lock that the call
// holds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace lanecrypt::process {

// While it lives this thread is not cancelled. Who wants to cancel it waits.
class CancellationOff {
 public:
  CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationOff() { pthread_setcancelstate(before_, nullptr); }
  CancellationOff(const CancellationOff &) = delete;

 private:
  int before_ = 0;
};

}  // namespace lanecrypt::process
