// `lanecrypt bench`, which runs a program of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::cli {

// Becomes lanecrypt-bench, which lies beside this program, with the arguments from
// argv[2] on. Throws Failure (kFailed) if it is not installed or cannot be run.
[[noreturn]] void become_bench(char **argv);

}  // namespace lanecrypt::cli
