// Compares the nonces of a job's messages while a device already works on them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <mutex>
#include <new>

#include "job/cipher/nonce_check.h"

namespace lanecrypt::runtime {

class NonceComparison {
 public:
  // Compares them, once, or waits for the thread that does. Any thread, as long as the job has its
  // keys.
  const Status &outcome(const CipherJob &job) {
    std::call_once(once_, [&] {
      try {
        status_ = compare_nonces(job);
      } catch (const std::bad_alloc &) {
        status_ = Status(LC_ERROR_MEMORY, "");
      } catch (const std::exception &) {  // no random numbers
        status_ = Status(LC_ERROR_INTERNAL, "");
      }
    });
    return status_;
  }

 private:
  std::once_flag once_;
  Status status_;
};

}  // namespace lanecrypt::runtime
