// The ASYNC jobs of a thread: how many operations they have in line, and how one of them
// pauses until its operation is over.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::provider {

// How many operations the calling thread has to do that would wait for one another on the
// CPU. Outside an ASYNC job that is 1. Whether a thread has many jobs shows only when one of
// them pauses and lets others begin. So now and then this returns a very large number, which
// makes one job pause. After each call comes pause_until_over() or, if the operation goes
// another way, stays_on_cpu().
uint32_t operations_in_line();
void stays_on_cpu();

// An operation for which a job pauses.
class PausedWork {
 public:
  virtual bool is_over() = 0;
  // Waits until it is over, in the thread.
  virtual void block() = 0;

 protected:
  ~PausedWork() = default;
};

// Pauses the current job until `work` is over. The thread's other jobs run meanwhile. It may
// go on in another thread. A job that is paused may never be resumed: then its stack is freed,
// and no destructor runs. So nothing on it may own anything.
//
// A job may not pause while a lock is held: between ASYNC_block_pause() and
// ASYNC_unblock_pause() OpenSSL lets pausing return at once, and then this blocks.
void pause_until_over(PausedWork &work);

}  // namespace lanecrypt::provider
