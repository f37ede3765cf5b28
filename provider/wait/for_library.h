// Waits for an operation of the library, whatever it computes. A thread blocks. An ASYNC job
// pauses, and is woken by the callback or the descriptor of its wait context.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::provider {

// How many operations the calling thread has to do that would wait for one another on the
// CPU. Outside an ASYNC job that is 1. Whether a thread has many jobs shows only when one of
// them pauses and lets others begin. So now and then this returns a very large number, which
// makes one job pause. After each call comes run_and_wait() or, if the operation goes another
// way, stays_on_cpu().
uint32_t operations_in_line();
void stays_on_cpu();

// A job of the library that is one operation, from one input to one output.
class OneOperation {
 public:
  // Calls lc_rsa_run() or another such function.
  virtual lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const = 0;
  // Calls lc_rsa_submit() or another such function. `in` and `out` stay until the operation
  // is over, but *this may go before.
  virtual lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                           lc_ticket **ticket) const = 0;

 protected:
  ~OneOperation() = default;
};

// Runs the operation. Writes `out` only if the status is LC_OK. Otherwise `why` says what is
// wrong.
//
// An ASYNC job pauses until the operation is over. It may not pause while a lock is held:
// between ASYNC_block_pause() and ASYNC_unblock_pause() OpenSSL lets pausing return at once,
// and then we block. A job that is paused may never be resumed, so nothing of the operation
// is on its stack.
lc_status run_and_wait(const OneOperation &operation, std::span<const uint8_t> in,
                       std::span<uint8_t> out, lc_result *result, std::string *why);

}  // namespace lanecrypt::provider
