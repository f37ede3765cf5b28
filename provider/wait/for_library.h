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
// An ASYNC job pauses until the operation is over (wait/jobs.h). It may never be resumed, so
// nothing of the operation is on its stack.
lc_status run_and_wait(const OneOperation &operation, std::span<const uint8_t> in,
                       std::span<uint8_t> out, lc_result *result, std::string *why);

}  // namespace lanecrypt::provider
