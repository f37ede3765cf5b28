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
  // What is printed: a line for each file, for each file that is not right, or nothing.
  enum class Prints { kAll, kWrong, kNothing } prints = Prints::kAll;
  bool warns = true;  // reports malformed lines on standard error
  bool ignores_missing = false;
  bool is_strict = false;  // a malformed line is a failure too
};

// The counts of files by result, and of malformed lines.
struct CheckCounts {
  uint64_t right = 0, wrong = 0, unread = 0, malformed = 0;
};

// Checks the files that one list names, and prints the result of each on standard output. Throws
// Failure if the list cannot be read, has no well-formed line, or, with `ignores_missing`, names no
// file that exists.
CheckCounts check_list(const std::string &path, ChecksumParser &parser, HashFiles &files,
                       const CheckOptions &options);

}  // namespace lanecrypt::cli
