// Checks files against the digests of a list, as sha256sum --check does.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/hash/checksum_line.h"
#include "cli/hash/hash_files.h"

namespace lanecrypt::cli {

struct CheckOptions {
  // What is printed: of each file, of those alone that are not right, or of none.
  enum class Prints { kAll, kWrong, kNothing } prints = Prints::kAll;
  bool warns = true;  // names the lines of another form on standard error
  bool ignores_missing = false;
  bool is_strict = false;  // a line of another form is a failure too
};

// What came of lists.
struct CheckCounts {
  uint64_t right = 0, wrong = 0, unread = 0, malformed = 0;
};

// Checks the files that one list names, and prints what came of each on standard output. Throws
// Failure if the list cannot be read, has no line of the right form, or with ignores_missing none
// of a file that is there.
CheckCounts check_list(const std::string &path, ChecksumParser &parser, HashFiles &files,
                       const CheckOptions &options);

}  // namespace lanecrypt::cli
