// `lanecrypt bench`, which executes the separate program lanecrypt-bench.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Replaces this process by lanecrypt-bench (execv), which is in the same folder as this program,
// with the arguments from argv[2] on. Throws Failure (kFailed) if it is not installed or cannot be
// executed.
[[noreturn]] void become_bench(char **argv);

}  // namespace lanecrypt::cli
