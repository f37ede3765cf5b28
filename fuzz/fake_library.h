// A substitute for liblanecrypt, to fuzz the service: it computes nothing, completes jobs on a
// separate thread, and fails as the first bytes of their inputs say.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lanecrypt::fuzz {

// Returns how many keys of the library exist.
size_t keys_of_library();

}  // namespace lanecrypt::fuzz
