// Protection against pthread_cancel(), which ends a thread at most blocking calls, by an exception
// of the C library. That exception must not propagate through our functions or the locks that they
// hold.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace lanecrypt::process {

// CancellationOff disables the cancellation of this thread while it lives. A cancellation request
// stays pending.
class CancellationOff {
 public:
  CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationOff() { pthread_setcancelstate(before_, nullptr); }
  CancellationOff(const CancellationOff &) = delete;

 private:
  int before_ = 0;
};

}  // namespace lanecrypt::process
