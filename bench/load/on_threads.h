// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lanecrypt::bench {

// Calls work(0) to work(count - 1) concurrently: work(0) on the calling thread, each other one on
// a new thread. Rethrows the first exception.
void on_threads(unsigned count, const std::function<void(unsigned)> &work);

}  // namespace lanecrypt::bench
