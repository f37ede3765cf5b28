// Waiting for an operation of the library, whatever it computes: a thread blocks; a job of
// ASYNC pauses, and is woken by the callback or the descriptor of its wait context.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::provider {

// How many operations the calling thread has to do that would wait for one
// another on the CPU: 1 outside a job of ASYNC. A thread with many jobs shows it
// only when one of them pauses, and lets others begin; so now and then one is
// told to, by a very large number. Each call is followed by run_and_wait()
// or, where the operation goes another way, by stays_on_cpu().
uint32_t operations_in_line();
void stays_on_cpu();

// A job of the library that is one operation, from one input to one output.
class OneOperation {
 public:
  // By lc_rsa_run() or another such function.
  virtual lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const = 0;
  // By lc_rsa_submit() or another; in and out stay until it is over, and *this does not.
  virtual lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                           lc_ticket **ticket) const = 0;

 protected:
  ~OneOperation() = default;
};

// Runs it. `out` is written only where the status is LC_OK; otherwise `why` says what is
// the matter.
//
// A job of ASYNC pauses until the operation is over. OpenSSL tells us where it
// must not, since a lock is held: between ASYNC_block_pause() and
// ASYNC_unblock_pause() pausing returns at once, and then we block. The caller
// may vanish while it is paused: nothing of the operation lies on its stack.
lc_status run_and_wait(const OneOperation &operation, std::span<const uint8_t> in,
                       std::span<uint8_t> out, lc_result *result, std::string *why);

}  // namespace lanecrypt::provider
