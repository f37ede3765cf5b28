// Simulates lack of memory: allocations of C++ and of OpenSSL fail, on all threads except those
// that are spared.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

namespace lanecrypt::test {

// Lets the next `allocations` allocations succeed. Then two fail, because reporting a failure may
// need memory too, or all fail if `lasts`.
void fail_after(long allocations, bool lasts);
// As fail_after(), but only for allocations of the calling thread.
void fail_here_after(long allocations, bool lasts);
// Ends the simulated failures. Returns whether an allocation has failed.
bool end_failing();
// Exempts the calling thread from failures, or ends that.
void spare_this_thread(bool is_spared);
bool openssl_fails_too();

// Repeats `work`, failing one allocation later each time, until no allocation fails. Returns how
// many calls of `work` failed.
template <typename Work>
int fail_in_turn(const Work &work, bool lasts = false) {
  spare_this_thread(true);
  int failures = 0;
  for (int times = 0; times < 1000; ++times) {
    fail_after(times, lasts);
    const auto status = work();
    if (!end_failing()) {
      EXPECT_TRUE(status.ok()) << status.text();
      return failures;
    }
    failures += status.ok() ? 0 : 1;
  }
  ADD_FAILURE() << "it never ends";
  return failures;
}

}  // namespace lanecrypt::test
