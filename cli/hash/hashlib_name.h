// The names that Python's hashlib uses for hashes. The command accepts them too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

namespace lanecrypt::cli {

// Converts a name of the command: "sha3-256" to "sha3_256", and "shake128" to "shake_128".
inline std::string hashlib_name(std::string name) {
  const std::string shake = "shake";
  if (name.starts_with(shake)) name.insert(shake.size(), "_");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace lanecrypt::cli
