// The ASYNC jobs of a thread: how many operations wait in line, and how a job pauses until its
// operation is complete.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::provider {

// operations_in_line() returns how many operations of the calling thread would wait for one another
// on the CPU. Outside an ASYNC job that is 1. Only when a job pauses and others begin can one see
// that a thread has many jobs. So from time to time this returns a very large number, which makes
// one job pause. After each call the caller must call pause_until_over() or, if the operation does
// not pause, stays_on_cpu().
uint32_t operations_in_line();
// stays_on_cpu() ends a trial whose operation did not pause.
void stays_on_cpu();

// PausedWork is an operation for which a job pauses.
class PausedWork {
 public:
  // is_over() says whether the operation is complete, or this process can no longer complete it. It
  // does not block.
  virtual bool is_over() = 0;
  // block() waits in the thread until the operation is complete.
  virtual void block() = 0;

 protected:
  ~PausedWork() = default;
};

// pause_until_over() pauses the current job until `work` is complete, while the thread's other jobs
// run. The job may continue in another thread. A paused job may never be resumed: then its stack is
// freed without running destructors. So nothing on it may own anything.
//
// A job may not pause while it holds a lock: between ASYNC_block_pause() and ASYNC_unblock_pause()
// OpenSSL makes a pause return at once, and this function then blocks.
void pause_until_over(PausedWork &work);

}  // namespace lanecrypt::provider
