// `lanecrypt bench`, which is a program of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Becomes lanecrypt-bench, which lies beside this program, with argv[2] and all that follow.
// Throws Failure (kFailed) where it is not installed or cannot be run.
[[noreturn]] void become_bench(char **argv);

}  // namespace lanecrypt::cli
