// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lanecrypt::bench {

// Calls work(0) to work(count - 1), each on a thread. Throws on what the first of them throws.
void on_threads(unsigned count, const std::function<void(unsigned)> &work);

}  // namespace lanecrypt::bench
