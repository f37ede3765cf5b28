// Memory that is lacking: allocations of C++ and of OpenSSL fail, on all threads but those that are
// spared.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

namespace lanecrypt::test {

// From now on so many allocations succeed. Then two fail (to tell of a failure may need memory
// too), or all.
void fail_after(long allocations, bool lasts);
// The same of the calling thread alone.
void fail_here_after(long allocations, bool lasts);
// Ends that. Returns whether one has failed.
bool end_failing();
// The calling thread finds all the memory that it needs.
void spare_this_thread(bool is_spared);
bool openssl_fails_too();

// Does `work` until no allocation has failed. Returns how often it failed.
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
