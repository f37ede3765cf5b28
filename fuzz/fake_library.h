// Stands for liblanecrypt where the service is fuzzed: it computes nothing, ends jobs on a thread
// of its own, and fails as the inputs of the jobs say.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt::fuzz {

// How many keys of the library there are.
size_t keys_of_library();

}  // namespace lanecrypt::fuzz
