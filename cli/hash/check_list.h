// Checks files against the digests of a list, as sha256sum --check does.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/hash/hash_files.h"

namespace lanecrypt::cli {

struct CheckOptions {
  bool quiet = false;  // does not print the names of files that are right
  bool ignores_missing = false;
  bool is_strict = false;  // a line of another form is a failure too
};

// What came of lists.
struct CheckCounts {
  uint64_t right = 0, wrong = 0, unread = 0, malformed = 0;
};

// Checks the files that one list names, and prints what came of each on standard output. Warns
// on standard error of lines of another form. Throws Failure if the list cannot be read, has no
// line of the right form, or with ignores_missing none of a file that is there.
CheckCounts check_list(const std::string &path, const HashSettings &settings, HashFiles &files,
                       const CheckOptions &options);

}  // namespace lanecrypt::cli
