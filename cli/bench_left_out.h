// What a device does not do at all is left out of a benchmark, which goes on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lanecrypt::cli {

// Runs `measure`. False where the device answers LC_ERROR_UNSUPPORTED, as one of
// OpenGL does to XTS: its reason goes to stderr, once a process. Any other error is
// thrown on.
bool unless_unsupported(const std::function<void()> &measure);

}  // namespace lanecrypt::cli
