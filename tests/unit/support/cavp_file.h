// Reads NIST's CAVP response files (.rsp). They are not in the repository: dev/setup fetches them,
// and LANECRYPT_CAVP_DIR, which dev/test sets, names their folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference.h"

namespace lanecrypt::test {

// One case: its "NAME = value" lines and the lines in brackets above it. A line that is only a
// name, such as FAIL or [ENCRYPT], has the value "".
struct CavpCase {
  std::map<std::string, std::string> values;

  bool has(const std::string &name) const { return values.count(name) != 0; }
  // Throws std::runtime_error if there is no such line.
  const std::string &text(const std::string &name) const;
  uint64_t number(const std::string &name) const;
  Bytes bytes(const std::string &name) const;  // hexadecimal
};

// Whether the vectors are present. A test that needs them begins with
//   if (!cavp_is_here()) GTEST_SKIP() << kCavpIsMissing;
bool cavp_is_here();
inline constexpr char kCavpIsMissing[] =
    "NIST's CAVP vectors are not here (LANECRYPT_CAVP_DIR; dev/setup fetches them)";

// Returns the sorted names of the files in `folder` that begin with `begin` and end in ".rsp".
std::vector<std::string> cavp_files(const std::string &folder, const std::string &begin);
// Reads a file such as "ciphers/AES/XTS/tweak-128hexstr/XTSGenAES128.rsp". Throws
// std::runtime_error if the file is missing or malformed.
std::vector<CavpCase> read_cavp(const std::string &file_name);

}  // namespace lanecrypt::test
