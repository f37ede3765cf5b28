// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lanecrypt::bench {

// Calls work(0) to work(count - 1), each on its own thread. Rethrows the exception of the first of
// them that throws.
void on_threads(unsigned count, const std::function<void(unsigned)> &work);

}  // namespace lanecrypt::bench
