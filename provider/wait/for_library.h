// Waits for an operation of the library, of any algorithm. A thread blocks. An ASYNC job pauses,
// and is woken by the callback or the descriptor of its wait context.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::provider {

// OneOperation is a job of the library with one input and one output.
class OneOperation {
 public:
  // run() calls lc_rsa_run() or a similar function, and blocks until the operation is complete.
  virtual lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const = 0;
  // submit() calls lc_rsa_submit() or a similar function. `in` and `out` must stay valid until the
  // operation is complete, but *this need not.
  virtual lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                           lc_ticket **ticket) const = 0;

 protected:
  ~OneOperation() = default;
};

// run_and_wait() runs the operation. It writes `out` only if the status is LC_OK. Otherwise `*why`
// is the reason.
//
// An ASYNC job pauses until the operation is complete (wait/jobs.h). It may never be resumed, so no
// part of the operation is on its stack.
lc_status run_and_wait(const OneOperation &operation, std::span<const uint8_t> in,
                       std::span<uint8_t> out, lc_result *result, std::string *why);

}  // namespace lanecrypt::provider
